"""Values of redacted parameters as they stand elsewhere in the capture that has them (CONTRACT 8).

"It is 0012 3456 78" says what the parameter beside it holds. A value is looked for as a word or phrase of its own,
letter for letter; one of digits however its digits are grouped, and not within a longer number. Refused: what is too
short to be told from other words and numbers, what says that there is no value (null, None, undefined), and
placeholders. Bounded: of a capture with too many values the first are looked for, and a text with too many places of
them goes whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from agent.content.detectors.view import STAND_INS, view_of
from agent.content.found import Finds, Found
from agent.content.longer_numbers import is_in_longer
from agent.content.placeholder import PARAM
from agent.content.value_pattern import value_patterns
from agent.core.canonical import canonical

SHORTEST: Final = 4
# Distinct ones of a capture, in the order in which they come.
MOST_VALUES: Final = 1000
# Of one text. Each takes memory.
MOST_PLACES: Final = 100_000
# Longer ones are looked for one by one, and wherever they stand.
_LONGEST_IN_PATTERN: Final = 32
_MOST_LONG: Final = 50
# In any case. Shorter ones (nil, n/a, yes) are too short anyway.
_SAID_OF_ANYTHING: Final = frozenset(
    {"true", "false", "null", "none", "undefined", "unknown", "default", "empty", "unset", "missing", "test"}
)
# What fills a field that nothing is in: -----, ....
_FILLER: Final = re.compile(r"([-._*#?=/])\1*")
_NO_VALUE: Final = re.compile(f"[{''.join(STAND_INS.values())}]")
_WHITE: Final = re.compile(r"\s+")
# Of few digits an amount or a time is made as soon as a dot may stand between them.
_FEW_DIGITS: Final = re.compile(r"[0-9](?:[ -]?[0-9]){3,5}")
_MANY_DIGITS: Final = re.compile(r"\+?[ (]*[0-9](?:[ ().\-/]{0,3}[0-9]){6,}")
_BETWEEN_FEW: Final = "[ -]?+"
_BETWEEN_MANY: Final = r"[ ().\-/]{0,3}+"
# What a look takes, as a part of the characters of a text in which nothing is found: for each pattern, each long one.
_OF_A_LOOK: Final = 10
_OF_A_FIND: Final = 60
_OF_A_PATTERN: Final = 8
_OF_A_LONG_ONE: Final = 64
# To make the patterns.
_OF_A_VALUE: Final = 2_000


def text_of(number: float) -> str:
    """``number`` as JSON says it, in the shortest way (RFC 8785)."""
    return str(number) if isinstance(number, int) else canonical(number).decode()


def is_value(said: str) -> bool:
    """Whether ``said`` is one that is looked for."""
    if len(said) < SHORTEST or said.casefold() in _SAID_OF_ANYTHING or _FILLER.fullmatch(said) is not None:
        return False
    return _NO_VALUE.search(said) is None


class ParamValues:
    """Finds ``values``; ``effort`` is what making it took, in characters of a text in which nothing is found."""

    def __init__(self, values: Iterable[str]) -> None:
        read = dict.fromkeys(view_of(value).text.strip() for value in values)
        kept = [each for each in read if is_value(each)][:MOST_VALUES]
        short = [each for each in kept if len(each) <= _LONGEST_IN_PATTERN]
        self._long = [each for each in kept if len(each) > _LONGEST_IN_PATTERN][:_MOST_LONG]
        words = [(each, _atoms(each)) for each in short if not _is_of_digits(each)]
        numbers = dict.fromkeys("".join(re.findall("[0-9]", each)) for each in short if _is_of_digits(each))
        digits = [(each, _atoms_of_digits(each)) for each in numbers]
        self._patterns = [*value_patterns(words), *value_patterns(digits)]
        self.effort = _OF_A_VALUE * len(short)

    def __bool__(self) -> bool:
        return bool(self._patterns or self._long)

    def find(self, text: str) -> Finds:
        """Where one stands in ``text``, in no order; nothing of it is in a placeholder."""
        effort = len(text) * len(self._patterns) // _OF_A_PATTERN + len(text) * len(self._long) // _OF_A_LONG_ONE
        if len(text) < SHORTEST:
            return Finds((), effort)
        view = view_of(text)
        places = list(islice(self._places(view.text), MOST_PLACES + 1))
        found = [view.found(place) for place, is_whole in places if is_whole]
        effort += _OF_A_LOOK + _OF_A_FIND * len(places)
        return Finds(found if len(places) <= MOST_PLACES else [Found(0, len(text), PARAM)], effort)

    def _places(self, text: str) -> Iterator[tuple[Found, bool]]:
        """Each place, and whether it is no part of a longer number: in one the next may begin."""
        for pattern in self._patterns:
            match = pattern.search(text)
            while match is not None:
                start, end = match.span()
                is_whole = not is_in_longer(text, start, end)
                yield Found(start, end, PARAM), is_whole
                match = pattern.search(text, end if is_whole else start + 1)
        for value in self._long:
            place = text.find(value)
            while place >= 0:
                yield Found(place, place + len(value), PARAM), True
                place = text.find(value, place + len(value))


def _is_of_digits(value: str) -> bool:
    return (_FEW_DIGITS.fullmatch(value) or _MANY_DIGITS.fullmatch(value)) is not None


def _atoms(value: str) -> list[str]:
    return [r"\s++" if each == " " else re.escape(each) for each in _WHITE.sub(" ", value)]


def _atoms_of_digits(digits: str) -> list[str]:
    between = _BETWEEN_MANY if _MANY_DIGITS.fullmatch(digits) else _BETWEEN_FEW
    return [digits[0], *(between + each for each in digits[1:])]
