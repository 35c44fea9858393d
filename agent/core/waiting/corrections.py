"""Which of the values that are said is meant: the one after a correction, or the only one. Two are no answer.

What is taken back behind it is none either, whatever the words: "scratch that", "no thanks", "that's not it". A doubt,
a condition, or a question that names another value leaves the answer open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from agent.core.waiting.beside import Vocabulary, says_nothing_else
from agent.core.waiting.said import Found, Part, only, parts

_MARK: Final = re.compile(
    r"\b(?:i meant?(?: to say)?|actually|sorry|oops|wait|hold on|correction|scratch that|(?:make|change) (?:it|that)"
    r"(?: to)?|my (?:bad|mistake)|(?:no|nope|nah|nein|non|não|нет|لا)(?=\s*[,.;:!\n-])|no wait|ich meine(?:te)?|doch"
    r"|pardon|perdón|je voulais dire|quiero decir)\b"
    r"|(?:不是|不|いいえ|아니요)(?=\s*[,.;:!\n。-])|我是说|我的意思是|ではなく|じゃなくて",
    re.IGNORECASE,
)
_NEGATION: Final = re.compile(
    r"\b(?:not|no|never|without|isn'?t|don'?t|except|instead of|rather than)\b", re.IGNORECASE
)
_NO: Final = re.compile(r"\s*no\b", re.IGNORECASE)
_ASKS_BACK: Final = re.compile(r"\b(?:or|not|wrong|right|correct|sure)\b", re.IGNORECASE)

Finder = Callable[[str], Sequence[Found]]


class _Turn(NamedTuple):
    """Where a message turns: what was said before is taken back. ``said``: by words that are said outright."""

    start: int
    end: int
    said: bool


def meant(text: str, find: Finder, known: Vocabulary, *, is_sum: bool = False) -> Found | None:
    """The one value that ``text`` leaves standing; None where none or more than one does, or anything else is said.

    ``is_sum``: a number that is said twice is two numbers.
    """
    whole = list(parts(text))
    said = only(text, whole, "said")
    found = sorted(find(said), key=lambda each: each.start)
    if not found or any(each.kind == "open" for each in whole):
        return None
    denied = [(part, _denied_in(text, part, find)) for part in whole if part.kind == "denied"]
    left, used = _after_turns(found, _turns(said, denied))
    distinct = {(type(each.value), each.value) for each in left}
    if len(distinct) != 1 or left[0].value is None or (is_sum and len(left) > 1):
        return None
    value = left[0]
    if any(_takes_back(text, value, part, values) for part, values in denied):
        return None
    if any(_asks_about(text, value, part, find) for part in whole if part.kind == "asked"):
        return None
    outright = [part for part in whole if part.kind == "said"]
    rest = list(said)
    for turn in used:
        rest[turn.start : turn.end] = " " * (turn.end - turn.start)
    return value if says_nothing_else("".join(rest), outright, found, known) else None


def _denied_in(text: str, part: Part, find: Finder) -> list[Found]:
    """What a part that denies has of values; they are none where its negation is before them, so that is taken out."""
    blank = "\n" * part.start + text[part.start : part.end] + "\n" * (len(text) - part.end)
    return list(find(_NEGATION.sub(lambda match: "\n" * len(match[0]), blank)))


def _turns(said: str, denied: Sequence[tuple[Part, Sequence[Found]]]) -> list[_Turn]:
    turns = [_Turn(*match.span(), said=True) for match in _MARK.finditer(said)]
    turns += [_Turn(part.start, part.end, said=False) for part, values in denied if not values]
    return sorted(turns)


def _after_turns(found: Sequence[Found], turns: Sequence[_Turn]) -> tuple[Sequence[Found], list[_Turn]]:
    """What is said behind the last turn, and the turns in words that have something said behind them."""
    used = []
    for turn in turns:
        later = [each for each in found if each.start >= turn.end]
        if later:
            found = later
            used += [turn] if turn.said else []
    return found, used


def _takes_back(text: str, value: Found, part: Part, values: Sequence[Found]) -> bool:
    """Whether a part that denies is about the value: it names it, or is behind it and names none.

    "L, no M" may be two things.
    """
    if any(each.value == value.value for each in values):
        return True
    return part.start >= value.end and (not values or _NO.match(text, part.start) is not None)


def _asks_about(text: str, value: Found, part: Part, find: Finder) -> bool:
    """Whether a question behind the value asks for another one, or whether it is the right one."""
    if part.start < value.end:
        return False
    blank = "\n" * part.start + text[part.start : part.end] + "\n" * (len(text) - part.end)
    return any(each.value != value.value for each in find(blank)) or bool(_ASKS_BACK.search(text, part.start, part.end))
