"""Parameters by their names in a text that holds JSON, whole or in part (``redaction.params``, CONTRACT 8).

Tools answer in JSON, and arguments come as text: there a parameter's value stands behind its name in quotes. The text
around it stays as it is. A value that does not end is taken to the end of the text: rather too much than a half. So is
an object or list in a text of more values than anybody parses. A name counts however it is spelled, and at every level
of escapes: what replaces its value has quotes as the name has them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

from agent.content.json_text import Edit, has_too_many_values
from agent.content.placeholder import PARAM, end_of_placeholder, is_redacted, redacted
from agent.content.unescaped import origins

_DECODER: Final = json.JSONDecoder()
# What is no literal, object or list ends where the next member begins, whatever it is: 079 123, user.name.
_BARE: Final = re.compile(r"[^,}\]\r\n]*")
_KEPT: Final = frozenset({"", "null", "true", "false"})


class Named(NamedTuple):
    """The value from ``start`` to before ``end`` is a parameter's; the quote at ``quote`` ends its name."""

    quote: int
    start: int
    end: int


def params_at(levels: tuple[str, ...], params: frozenset[str], most: int) -> list[Edit]:
    """The edits of ``levels[0]`` by each value of one of ``params`` in it, or in what it reads as without escapes.

    At most about ``most``. Of a further level only names whose quote is an escape: the others stood in that before.
    """
    found: list[Edit] = []
    for depth, text in enumerate(levels):
        named = list(islice(named_in(text, params), most))
        places = [place for quote, start, end in named for place in (quote, quote + 1, start, end)]
        is_new = [True] * len(named)
        for below in range(depth - 1, -1, -1):
            places = origins(levels[below], places)
            if below == depth - 1:
                is_new = [end - quote > 1 for quote, end in zip(places[::4], places[1::4], strict=True)]
        spans = zip(*(places[each::4] for each in range(4)), is_new, strict=True)
        found += (Edit(start, end, PARAM, levels[0][quote:closed]) for quote, closed, start, end, new in spans if new)
    return found


def without_params(text: str, params: frozenset[str]) -> tuple[str, int]:
    """``text`` with a placeholder for each value of one of ``params``, and how many; null and booleans stay."""
    pieces: list[str] = []
    count = done = 0
    for _, start, end in named_in(text, params):
        pieces += (text[done:start], f'"{redacted(PARAM)}"')
        done = end
        count += 1
    return ("".join((*pieces, text[done:])), count) if count else (text, 0)


def named_in(text: str, params: frozenset[str]) -> Iterator[Named]:
    """Each value of one of ``params`` that has to go, in order."""
    pattern = _names(params)
    is_parsed = not has_too_many_values(text)
    match = pattern.search(text)
    while match is not None:
        start = match.end()
        end = _end_of_value(text, start, is_parsed=is_parsed)
        if end > start:
            yield Named(match.end("name"), start, end)
        match = pattern.search(text, max(start, end))


@lru_cache(maxsize=4)
def _names(params: frozenset[str]) -> re.Pattern[str]:
    spelled = ("".join(map(_spelled, name)) for name in sorted(params))
    return re.compile(rf'"(?P<name>{"|".join(spelled)})"\s*:\s*')


def _spelled(character: str) -> str:
    """A pattern for ``character`` as a literal may spell it."""
    plain = json.dumps(character, ensure_ascii=False)[1:-1]
    forms = (plain, r"\/") if character == "/" else (plain,)
    units = character.encode("utf-16-be", "surrogatepass").hex()
    escaped = "".join(rf"\\u(?i:{units[place : place + 4]})" for place in range(0, len(units), 4))
    return f"(?:{'|'.join((*map(re.escape, forms), escaped))})"


def _end_of_value(text: str, start: int, *, is_parsed: bool) -> int:
    """The end of the value at ``start``; ``start`` where it is one that stays."""
    begins = end_of_placeholder(text, start) or start
    if begins > start or not text.startswith(('"', "{", "["), start):
        bare = _BARE.match(text, begins)
        value = bare[0].rstrip() if bare is not None else ""
        return start if value in _KEPT else begins + len(value)
    if not is_parsed and text[start] != '"':
        return len(text)
    try:
        decoded: tuple[Any, int] = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return len(text)
    value, end = decoded
    return start if isinstance(value, str) and is_redacted(value) else end
