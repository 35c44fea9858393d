"""A text that is itself JSON, as many arguments and results are: what is replaced in it leaves it JSON.

A placeholder takes no quote and no half of an escape with it, and where a number stood it comes in quotes. Texts are
taken for JSON only where they hold an object or a list. Refused: parsing one with more values than a body may have
(CONTRACT 2), since a text of 10 MiB has room for millions and a parser makes each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from agent.content.found import Found

# The tokens of a text that is known to be JSON: what stands in a literal's quotes, or a number.
_TOKEN: Final = re.compile(r'"(?P<inside>(?:[^"\\]++|\\.)*+)"|(?P<number>-?[0-9][0-9.eE+-]*)')
# What stands behind the name of a member, and behind no other literal.
_BEHIND_NAME: Final = re.compile(r"[ \t\r\n]*+:")
# RFC 8259 section 7.
_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")
# A literal may say half a pair, and no stored text may hold one (CONTRACT 2).
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LONGEST_ESCAPE: Final = 6
_SPACES: Final = " \t\r\n"
_MOST_VALUES: Final = 250_000


class Edit(NamedTuple):
    """The characters from ``start`` to before ``end`` are of this kind; ``quotes`` go around what replaces them.

    A number outside of quotes needs them, and so does a value that goes with its own.
    """

    start: int
    end: int
    kind: str
    quotes: str = ""


def is_json_text(text: str) -> bool:
    """Whether ``text`` is a JSON object or list; one too deep or with too many values to parse is taken for none."""
    if not _looks_like_one(text) or _has_too_many(text):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def has_too_many_values(text: str) -> bool:
    """Whether ``text`` may be a JSON object or list of more values than anybody parses."""
    return _looks_like_one(text) and _has_too_many(text)


def _looks_like_one(text: str) -> bool:
    """Whether it begins and ends as an object or list does."""
    inside = text.strip(_SPACES)
    return inside.startswith(("{", "[")) and inside.endswith(("}", "]"))


def _has_too_many(text: str) -> bool:
    return len(text) > _MOST_VALUES and sum(map(text.count, ",[{")) > _MOST_VALUES


def with_literals(text: str, change: Callable[[str], str], change_name: Callable[[str], str]) -> str:
    """``text``, which is JSON, with ``change`` done to what its literals with escapes say; the rest as it stands.

    ``change_name`` is done to those that are names of members.
    """

    def changed(match: re.Match[str]) -> str:
        if match["inside"] is None or "\\" not in match["inside"]:
            return match[0]
        said = json.loads(match[0])
        after = change_name(said) if _BEHIND_NAME.match(text, match.end()) else change(said)
        return match[0] if after == said else _SURROGATE.sub(_escaped, json.dumps(after, ensure_ascii=False))

    return _TOKEN.sub(changed, text)


def _escaped(surrogate: re.Match[str]) -> str:
    return f"\\u{ord(surrogate[0]):04x}"


def outside_names(text: str, found: Sequence[Found]) -> list[Found]:
    """``found`` in ``text``, which is JSON, without what stands in names of members; in order, without overlaps."""
    names = (token.span() for token in _TOKEN.finditer(text) if _BEHIND_NAME.match(text, token.end()))
    name = next(names, None)
    held: list[Found] = []
    for first, end, kind in found:
        start = first
        while name is not None and name[0] < end:
            if start < name[0]:
                held.append(Found(start, name[0], kind))
            start = max(start, name[1])
            if name[1] > end:
                break
            name = next(names, None)
        if start < end:
            held.append(Found(start, end, kind))
    return held


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
                    yield Edit(token.start(), token.end(), kind, '"')
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
    start = _behind_escape(token, start)
    end = _behind_escape(token, end)
    return Edit(start, end, kind) if start < end else None


def _behind_escape(token: re.Match[str], place: int) -> int:
    """``place``, or the end of the escape that it is in the middle of; only what stands before it is looked at."""
    text, first = token.string, token.start("inside")
    for start in range(max(first, place - _LONGEST_ESCAPE + 1), place):
        if text[start] == "\\":
            # The first of an even number of them is an escape of its own, with the second.
            run = start
            while run > first and text[run - 1] == "\\":
                run -= 1
            escape = _ESCAPE.match(text, start) if (start - run) % 2 == 0 else None
            if escape is not None and escape.end() > place:
                return escape.end()
    return place
