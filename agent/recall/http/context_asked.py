"""The body of ``POST /api/context``: a list of messages, and how its window is cut.

Refuses, with every path that is wrong: members that nobody knows, wrong types, numbers out of their range. A misspelt
budget that was passed over would answer another question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from agent.core.json_path import json_path
from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats import NATIVE, WRITES
from agent.recall.context import LONGEST_MODEL, LONGEST_QUERY, ContextRequest
from agent.recall.http.query import LONGEST_NAME
from agent.window_settings import LONGEST_MARKER, MOST_MESSAGES, MOST_TOKENS

__all__ = ["FORMATS", "MOST_TOKENS", "PostedContext", "posted"]

FORMATS: Final = (NATIVE, *WRITES)
_MESSAGES: Final = "messages"
_EXPLAIN: Final = "explain"
# The lowest and the highest value; where it is a text, of its length.
_NUMBERS: Final = {
    "max_tokens": (0, MOST_TOKENS),
    "reserved_tokens": (0, MOST_TOKENS),
    "min_recent": (0, MOST_MESSAGES),
    "max_messages": (1, MOST_MESSAGES),
}
_TEXTS: Final = {
    "strategy": (1, LONGEST_NAME),
    "query": (1, LONGEST_QUERY),
    "model": (1, LONGEST_MODEL),
    "marker": (1, LONGEST_MARKER),
    "format": (1, LONGEST_NAME),
}
_MEMBERS: Final = (_MESSAGES, *_NUMBERS, *_TEXTS, _EXPLAIN)


class PostedContext(NamedTuple):
    """``messages`` as they came, what is asked of their window, and whether every turn is to be accounted for."""

    messages: Any
    asked: ContextRequest
    explain: bool


def posted(body: Mapping[str, Any]) -> PostedContext:
    """What ``body`` asks for. Raises ValidationError with all problems, at most 50."""
    says: list[str] = []
    problems = [Problem(json_path([name]), "additionalProperties") for name in body if name not in _MEMBERS]
    if _MESSAGES not in body:
        problems.append(Problem(f"$.{_MESSAGES}", "required"))
    if problems:
        says.append(f"the body is {{{', '.join(_MEMBERS)}}}: messages alone has to be there")
    for problem, words in _problems(body):
        problems.append(problem)
        says.append(words)
    if problems:
        raise ValidationError("; ".join(says), problems[:MAX_PROBLEMS])
    asked: dict[str, Any] = {name: int(body[name]) for name in _NUMBERS if name in body}
    asked |= {name: body[name] for name in _TEXTS if name in body}
    return PostedContext(body[_MESSAGES], ContextRequest(**asked), body.get(_EXPLAIN, False))


def _problems(body: Mapping[str, Any]) -> Iterator[tuple[Problem, str]]:
    """What is wrong with members that are known, each with what they may be."""
    for name, (lowest, highest) in _NUMBERS.items():
        if name in body and (rule := _broken_by_number(body[name], lowest, highest)):
            yield Problem(f"$.{name}", rule), f"{name} must be a whole number from {lowest} to {highest}"
    for name, (shortest, longest) in _TEXTS.items():
        if name in body and (rule := _broken_by_text(body[name], shortest, longest)):
            yield Problem(f"$.{name}", rule), f"{name} must be a text of {shortest} to {longest} characters"
    named = body.get("format")
    if isinstance(named, str) and 1 <= len(named) <= LONGEST_NAME and named not in FORMATS:
        yield Problem("$.format", "enum"), f"format must be one of {', '.join(FORMATS)}"
    if not isinstance(body.get(_EXPLAIN, False), bool):
        yield Problem(f"$.{_EXPLAIN}", "type"), f"{_EXPLAIN} must be true or false"


def _broken_by_number(value: object, lowest: int, highest: int) -> str | None:
    # 4000.0 is the same JSON number as 4000.
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not isinstance(value, int | float) or not is_whole:
        return "type"
    return "minimum" if value < lowest else "maximum" if value > highest else None


def _broken_by_text(value: object, shortest: int, longest: int) -> str | None:
    if not isinstance(value, str):
        return "type"
    return "minLength" if len(value) < shortest else "maxLength" if len(value) > longest else None
