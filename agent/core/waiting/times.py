"""Finds the time of day that is said, as it was said: whether 7 is in the evening is the caller's to know.

A span, a time before or after, and a part of a day without an hour are none. English, and the hours of German, French,
Chinese and Japanese in digits.
"""

from __future__ import annotations

import re
from typing import Final

from agent.core.waiting.said import Found

_SPELLED: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_HALF: Final = r"(?:[ap]\.\s?m\.|[ap]\.?\s?m\b)"
_PARTS: Final = r"(?:in (?:the )?|this |tomorrow )?(?:morning|afternoon|evening)|at night|tonight"
_HOUR: Final = rf"(?:\d{{1,2}}|{_SPELLED})"
_MINUTES: Final = r":[0-5]\d(?::[0-5]\d)?"
_BEFORE: Final = r"(?<![\w.,:/$-])"
_AFTER: Final = r"(?![\w:/])"
_TIME: Final = re.compile(
    rf"{_BEFORE}(?:"
    rf"(?:half past|(?:a )?quarter (?:past|to|after)"
    rf"|(?:five|ten|twenty|\d{{1,2}}) (?:minutes (?:past|to)|past)) {_HOUR}"
    rf"(?: o'? ?clock)?(?:\s?{_HALF})?(?: (?:{_PARTS}))?"
    r"|(?:morning|afternoon|evening) (?:at )?(?:half past |quarter (?:past|to) )?"
    rf"{_HOUR}(?:{_MINUTES})?(?: o'? ?clock)?"
    rf"|{_HOUR}(?:{_MINUTES})?\s?{_HALF}(?: (?:{_PARTS}))?"
    rf"|{_HOUR}(?:{_MINUTES})?(?: o'? ?clock)?(?: (?:{_PARTS}))"
    rf"|{_HOUR} o'? ?clock|\d{{1,2}}{_MINUTES}|{_HOUR} thirty(?:\s?{_HALF})?"
    r"|\d{1,2}\s?(?:h|uhr|heures)\s?(?:[0-5]\d)?|noon|midday|midnight"
    rf"){_AFTER}"
    r"|(?:上午|下午|早上|晚上|中午|午前|午後)?\d{1,2}(?:点|點|時)(?:半|\d{1,2}分)?",
    re.IGNORECASE,
)
_BARE: Final = re.compile(
    rf"\s*(?:(?:make it|let's say|say|it's) )?(?:(?:at|around|about|by|for|um|gegen|à)\s+)?({_HOUR})"
    r"\s*(?:,?\s*(?:please|thanks))?\s*",
    re.IGNORECASE,
)
_FROM_HERE: Final = re.compile(r"\s*(?:-|to|until|till|and|or|bis)\s*(?:half past |quarter )?\d", re.IGNORECASE)
_UP_TO_HERE: Final = re.compile(
    r"(?:\d\s*(?:-|to|until|till|and|or|bis)|\b(?:before|after|until|till|since|between|from|later than|earlier than))"
    r"\s*\Z",
    re.IGNORECASE,
)


def times(text: str) -> list[Found]:
    """The times of day that ``text`` names, those that it only limits with the value None."""
    return [_found(text, *match.span()) for match in _TIME.finditer(text) if _is_time(match[0])]


def _found(text: str, start: int, end: int) -> Found:
    span = _FROM_HERE.match(text, end) or _UP_TO_HERE.search(text[max(0, start - 20) : start])
    return Found(start, end, None if span else text[start:end])


def bare_hour(text: str) -> list[Found]:
    """``text`` as an hour without more: what "7" and "at 7" are where a time was asked for."""
    match = _BARE.fullmatch(text.rstrip(".! \n"))
    if match is None or not _is_time(match[1]):
        return []
    return [Found(match.start(1), match.end(1), match[1])]


def _is_time(said: str) -> bool:
    numbers = [int(number) for number in re.findall(r"\d+", said)]
    halves = re.search(_HALF, said, re.IGNORECASE)
    return not numbers or (numbers[0] <= (12 if halves else 24) and not (halves and numbers[0] == 0))
