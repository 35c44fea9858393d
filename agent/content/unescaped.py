r"""A text as it reads with the escapes of JSON undone, and the way back: ``ann\u0040example.org`` is an address.

Most texts that hold JSON are none: lines of it, a fenced piece in prose, a literal alone, a document within a literal.
So escapes are undone wherever they stand, level by level, and nothing is parsed. Refused: escapes of other languages
(``&#64;``, ``%40``, ``\x40``), and more levels than anybody writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

# RFC 8259 section 7: a pair of surrogates is one character.
_ESCAPE: Final = re.compile(
    r'\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|["\\/bfnrt])'
)
_SAID: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ALONE: Final = range(0xD800, 0xE000)
# JSON in JSON in JSON in a literal.
_MOST_LEVELS: Final = 4
# An escape that is undone takes as long as some characters, and is shorter by one at least.
OF_AN_ESCAPE: Final = 8


def levels(text: str) -> tuple[str, ...]:
    """``text``, and what it reads as with one level of escapes undone after the other, as long as there are any."""
    held = [text]
    while len(held) <= _MOST_LEVELS and "\\" in held[-1]:
        undone, count = _ESCAPE.subn(_said, held[-1])
        if not count:
            break
        held.append(undone)
    return tuple(held)


def origins(text: str, places: Iterable[int]) -> list[int]:
    """Where in ``text`` the characters begin that are at ``places`` of its next level; these in order."""
    found: list[int] = []
    escapes = _ESCAPE.finditer(text)
    escape = next(escapes, None)
    gone = 0
    for place in places:
        while escape is not None and escape.start() - gone < place:
            gone += escape.end() - escape.start() - 1
            escape = next(escapes, None)
        found.append(place + gone)
    return found


def _said(escape: re.Match[str]) -> str:
    """The one character that ``escape`` says; half a pair is nothing that a text may hold."""
    written = escape[0]
    if written[1] != "u":
        return _SAID[written[1]]
    code = int(written[2:6], 16)
    if len(written) > 6:
        return chr(0x10000 + ((code - 0xD800) << 10) + int(written[8:], 16) - 0xDC00)
    return "\ufffd" if code in _ALONE else chr(code)
