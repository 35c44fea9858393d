"""JSON texts of events handled as texts: what is only passed on or shown keeps every digit and every escape.

A parser would lose the digits of a large or long number. Here a value is cut out, left out or laid out by its text,
and read as a value only where a command has to know it.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

# What int() takes; a number that is longer stays its digits.
_LONGEST_INTEGER: Final = 4300
_SPACE: Final = re.compile(r"[ \t\n\r]*", re.ASCII)
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
# A string, a mark, or what stands between them: a number or a word.
_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[][{},:]|[^][{},:"\s]+', re.DOTALL)
_INDENT: Final = "  "


def decoded(text: bytes) -> str:
    """The JSON text in ``text``; what is no UTF-8 there is shown as U+FFFD."""
    return text.decode(errors="replace")


def value_of(text: str) -> Any:
    """The value of the JSON ``text``; an integer of more than 4 300 digits as its text."""
    return _DECODER.decode(text)


def one_line(text: str) -> str:
    """JSON ``text`` on one line: outside a string a line break says nothing, inside none may stand."""
    return _CONTROL.sub(_without_control, text)


def members(text: str) -> dict[str, str]:
    """The members of the JSON object ``text`` by their names, each with its value's text; {} for another value."""
    found: dict[str, str] = {}
    place = _skipped(text, 0)
    if not text.startswith("{", place):
        return found
    place = _skipped(text, place + 1)
    while not text.startswith("}", place):
        name, place = _DECODER.raw_decode(text, place)
        start = _skipped(text, _skipped(text, place) + len(":"))
        _, place = _DECODER.raw_decode(text, start)
        found[name] = text[start:place]
        place = _skipped(text, place)
        if text.startswith(",", place):
            place = _skipped(text, place + 1)
    return found


def without(text: str, *path: str) -> str:
    """The JSON object ``text`` without the member at ``path``, the others by their texts; itself if it has none."""
    name, *rest = path
    kept = members(text)
    if name not in kept:
        return text
    value = kept.pop(name)
    if rest:
        inner = without(value, *rest)
        if inner is value:
            return text
        kept[name] = inner
    return "{" + ",".join(f"{json.dumps(each)}:{value}" for each, value in kept.items()) + "}"


def laid_out(text: str) -> str:
    """JSON ``text`` with a line for each member and item, indented; its strings and numbers as they stand."""
    parts: list[str] = []
    depth = 0
    before = ""
    for token in _TOKEN.findall(text):
        if token in ("}", "]"):
            depth -= 1
            if before not in ("{", "["):
                parts.append(f"\n{_INDENT * depth}")
        elif before in ("{", "[", ","):
            parts.append(f"\n{_INDENT * depth}")
        elif before == ":":
            parts.append(" ")
        depth += token in ("{", "[")
        parts.append(one_line(token))
        before = token
    return "".join(parts)


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else digits


def _without_control(match: re.Match[str]) -> str:
    character = match[0]
    return " " if character in "\t\n\r" else f"\\u{ord(character):04x}"


def _skipped(text: str, place: int) -> int:
    spaces = _SPACE.match(text, place)
    return spaces.end() if spaces else place


_DECODER: Final = json.JSONDecoder(strict=False, parse_int=_integer)
