"""A text that is itself JSON, as many arguments and results are: what is replaced in it leaves it JSON.

A placeholder takes no quote and no half of an escape with it, and where a number stood it comes in quotes. Texts are
taken for JSON only where they hold an object or a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from agent.content.found import Found

# The tokens of a text that is known to be JSON: what stands in a literal's quotes, or a number.
_TOKEN: Final = re.compile(r'"(?P<inside>(?:[^"\\]++|\\.)*+)"|(?P<number>-?[0-9][0-9.eE+-]*)')
# RFC 8259 section 7.
_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")


class Edit(NamedTuple):
    """The characters from ``start`` to before ``end`` are of this kind; ``is_number``: a number outside of quotes."""

    start: int
    end: int
    kind: str
    is_number: bool


def is_json_text(text: str) -> bool:
    """Whether ``text`` is a JSON object or list; one that nests too deep for a parser is taken for none."""
    if not text.lstrip(" \t\r\n").startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def with_literals(text: str, change: Callable[[str], str]) -> str:
    """``text``, which is JSON, with ``change`` done to what its literals with escapes say; the rest as it stands."""

    def changed(match: re.Match[str]) -> str:
        if match["inside"] is None or "\\" not in match["inside"]:
            return match[0]
        said = json.loads(match[0])
        after = change(said)
        return match[0] if after == said else json.dumps(after, ensure_ascii=False)

    return _TOKEN.sub(changed, text)


def edits(text: str, found: Sequence[Found]) -> Iterator[Edit]:
    """``found`` in ``text``, which is JSON, cut to its literals and numbers; both in order, without overlaps."""
    tokens = _TOKEN.finditer(text)
    token = next(tokens, None)
    done = 0
    for start, end, kind in found:
        while token is not None and token.end() <= start:
            token = next(tokens, None)
        while token is not None and token.start() < end:
            if token["inside"] is None:
                if token.start() >= done:
                    yield Edit(token.start(), token.end(), kind, is_number=True)
                    done = token.end()
            else:
                edit = _inside(token, max(start, token.start("inside")), min(end, token.end("inside")), kind)
                if edit is not None:
                    yield edit
            if token.end() > end:
                break
            token = next(tokens, None)


def _inside(token: re.Match[str], start: int, end: int, kind: str) -> Edit | None:
    """The edit between ``start`` and ``end`` in a literal, without halves of escapes; None where nothing is left."""
    for escape in _ESCAPE.finditer(token.string, token.start("inside"), token.end("inside")):
        if escape.start() < start < escape.end():
            start = escape.end()
        if escape.start() < end < escape.end():
            end = escape.end()
    return Edit(start, end, kind, is_number=False) if start < end else None
