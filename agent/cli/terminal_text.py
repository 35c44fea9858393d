"""Foreign text made safe and short for a terminal.

What a caller sent may hold escape sequences, backspaces, bidirectional overrides or a thousand combining marks. None
of it reaches a terminal as it is: it is shown as an escape, so that no text moves the cursor, hides its neighbour or
breaks a column.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Controls, format characters (bidirectional overrides among them), lone surrogates, private use, unassigned, line and
# paragraph separators: nothing that a terminal should be asked to draw. Unicode 15, general categories.
_UNSAFE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_COMBINING: Final = frozenset({"Mn", "Me"})
# Thai and Vietnamese stack two, Tibetan and Hebrew three; a pile that runs over other lines is more.
_MOST_COMBINING: Final = 3
_PLAIN: Final = re.compile(r"[\x20-\x7e]*\Z", re.ASCII)


def escape(text: str, encoding: str = "utf-8") -> str:
    r"""One line of ``text``: what a terminal would act on, or ``encoding`` cannot write, as ``\x1b`` or ``\u202e``."""
    if _PLAIN.match(text):
        return text
    shown: list[str] = []
    # A mark at the start would sit on what stands before the text.
    combining = _MOST_COMBINING
    for character in text:
        combining = combining + 1 if unicodedata.category(character) in _COMBINING else 0
        drawn = combining <= _MOST_COMBINING and _is_drawn(character, encoding)
        shown.append(character if drawn else _escaped(character))
    return "".join(shown)


def escape_document(text: str, encoding: str = "utf-8") -> str:
    r"""JSON or YAML text, with what a terminal would act on, or ``encoding`` cannot write, as ``\u`` escapes.

    Both formats hold such characters only inside quoted strings, where the escape means the same; line breaks stay.
    """
    if _PLAIN.match(text.replace("\n", "")):
        return text
    return "".join(
        character if character == "\n" or _is_drawn(character, encoding) else _json_escaped(character)
        for character in text
    )


def preview(text: str, width: int, encoding: str = "utf-8") -> str:
    """The start of ``text`` in at most ``width`` terminal cells, white space as single blanks, safe to print."""
    # A cell takes one character at least, but for combining marks and for blanks that fall together.
    start = text[: max(width, 0) * 8]
    line = escape(" ".join(start.split()), encoding)
    return cut(line if len(start) == len(text) else f"{line} ...", width)


def cut(line: str, width: int) -> str:
    """``line``, or its start and ``...``, in at most ``width`` terminal cells; a wide character is never split."""
    # Rich is not needed to say --help.
    from rich.cells import cell_len, set_cell_size

    if cell_len(line) <= width:
        return line
    dots = "..."[: max(width, 0)]
    return set_cell_size(line, max(width, 0) - len(dots)).rstrip() + dots


def _escaped(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _is_drawn(character: str, encoding: str) -> bool:
    if unicodedata.category(character) in _UNSAFE:
        return False
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _json_escaped(character: str) -> str:
    """RFC 8259 section 7: beyond the basic plane as a surrogate pair."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[index]:02x}{units[index + 1]:02x}" for index in range(0, len(units), 2))
