"""Numbers told digit by digit, or in pairs all along: ``4 1 4 7 6 9 ...``, as transcripts and chats have them.

A card's is one by itself where it stands alone, as rows of digits do not; ids and telephones need a word for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from agent.content.detectors.cards import is_card, may_be_card
from agent.content.detectors.evidence import has_word_near
from agent.content.detectors.national_ids import is_told_id
from agent.content.detectors.number import Number
from agent.content.detectors.phones import phone_span
from agent.content.detectors.weighing import Weighing
from agent.content.detectors.words import CARD, ID
from agent.content.found import Found

# What goes on is a longer number, or a word.
_BEGINS: Final = "(?<![0-9A-Za-z_.,/:-])"
_GOES_ON: Final = re.compile("[0-9A-Za-z_%]|[ .,:/-] ?[0-9]")
# One mark all along; seven digits or five pairs at least. However long a row is, it is one match, up to its last group,
# which may begin another: no digit is gone over more often than a few times.
_ROW: Final = re.compile(
    rf"{_BEGINS}(?:[0-9](?P<one>[ .-]|, ?)(?=[0-9])(?:[0-9](?P=one)(?=[0-9])){{5,}}+"
    r"|[0-9]{2}(?P<two>[ .-]|, ?)(?=[0-9])(?:[0-9]{2}(?P=two)(?=[0-9])){4,}+)"
)
_LAST: Final = re.compile("[0-9]{1,2}")
# Rows with more between them than within, as people read cards out: 4 1 1 1  1 1 1 1, 1 1 1 1. All are one match.
_ROWS: Final = re.compile(
    rf"{_BEGINS}[0-9](?P<mark>-|(?<![^0-9][0-9] [0-9]) )[0-9](?:(?P=mark)[0-9]){{2,}}+"
    r"(?:(?:,? {1,3}|[,;.-] ?| - )[0-9](?:(?P=mark)[0-9]){2,}+){1,3}+"
)
_ONE_OF_ROWS: Final = re.compile("[0-9](?:([ -])[0-9])(?:\\1[0-9])++")
# Of four digits, three and three at least, up to a card's, which has the most.
_FEWEST_IN_ROWS: Final = 10
_FIRST_ROW: Final = 4
_GROUP: Final = re.compile("[0-9]+")
_BESIDE: Final = 4
_FEWEST_DIGITS: Final = 7
_MOST_DIGITS: Final = 19
_FEWEST_PAIRS: Final = 6
_MOST_PAIRS: Final = 9
# What a row takes that is no number, in characters.
_OF_A_ROW: Final = 40


class _Told(NamedTuple):
    """From where to where a number is told; ``in_ones``: digit by digit."""

    start: int
    end: int
    in_ones: bool


def told_numbers(text: str, weighing: Weighing | None = None) -> Iterator[Found]:
    """Each number of ``text`` that is told digit by digit and is a card's, a person's or a telephone's.

    What is weighed is counted in ``weighing``; of too many the later ones are not, and are taken for telephones.
    """
    weighing = weighing or Weighing()
    rows = _ROWS.search(text)
    while rows is not None:
        weighing.characters += _OF_A_ROW
        spans = [row.span() for row in _ONE_OF_ROWS.finditer(text, *rows.span())]
        found = next(filter(None, (_weighed(text, told, weighing) for told in _in_rows(text, spans))), None)
        if found is not None:
            yield found
        rows = _ROWS.search(text, spans[1][0] if found is None else found.end)
    for row in _ROW.finditer(text):
        weighing.characters += _OF_A_ROW
        last = _LAST.match(text, row.end())
        end = row.end() if last is None else last.end()
        in_ones = row["one"] is not None
        if _is_long_enough(row, end - row.end(), in_ones=in_ones) and _GOES_ON.match(text, end) is None:
            found = _weighed(text, _Told(row.start(), end, in_ones), weighing)
            if found is not None:
                yield found


def _weighed(text: str, told: _Told, weighing: Weighing) -> Found | None:
    """What ``told`` is, if it is anything; where nothing more is weighed, a telephone."""
    start, end, in_ones = told
    if weighing.is_full:
        return Found(start, end, "phone")
    weighing.count += 1
    groups = tuple(_GROUP.findall(text, start, end))
    number = Number(text, start, end, "".join(groups), groups, "told")
    return _found(number, in_ones=in_ones) if len(number.digits) >= _FEWEST_DIGITS else None


def _is_long_enough(row: re.Match[str], last: int, *, in_ones: bool) -> bool:
    """Whether ``row`` with the group after it, of ``last`` digits, is as long as numbers are."""
    groups = row[0].count(row["one"] or row["two"])
    if in_ones:
        return last == 1 and groups < _MOST_DIGITS
    # Behind the pairs one digit may stand alone.
    return _FEWEST_PAIRS <= groups + (last > 1) <= _MOST_PAIRS


def _in_rows(text: str, rows: list[tuple[int, int]]) -> Iterator[_Told]:
    """The numbers that may begin with the first of ``rows``, four digits or more than six, the longer ones first."""
    lengths = [(end - start) // 2 + 1 for start, end in rows]
    if lengths[0] >= _FEWEST_DIGITS and _GOES_ON.match(text, rows[0][1]) is None:
        # One by itself.
        return
    # "2 4 1 1 1  1 1 1 1": the second card.
    before = lengths[0] - _FIRST_ROW if _FIRST_ROW < lengths[0] < _FEWEST_DIGITS else 0
    for last in range(len(rows), 1, -1):
        digits = sum(lengths[:last]) - before
        end = rows[last - 1][1]
        if _FEWEST_IN_ROWS <= digits <= _MOST_DIGITS and _GOES_ON.match(text, end) is None:
            yield _Told(rows[0][0] + 2 * before, end, in_ones=True)


def _found(number: Number, *, in_ones: bool) -> Found | None:
    text, start, end = number.text, number.start, number.end
    if may_be_card(number):
        alone = in_ones and _is_alone(number)
        if is_card(number, has_word=alone or has_word_near(text, start, end, CARD)):
            return Found(start, end, "card")
    if has_word_near(text, start, end, ID) and is_told_id(number.digits):
        return Found(start, end, "national_id")
    span = phone_span(number) if in_ones else None
    return None if span is None else Found(*span, "phone")


def _is_alone(number: Number) -> bool:
    """Whether it is no row of a table or a list: no digit and no bracket of a list stands beside it."""
    before = number.text[max(0, number.start - _BESIDE) : number.start].rstrip()[-1:]
    after = number.text[number.end : number.end + _BESIDE].lstrip()[:1]
    return not (before.isdigit() or before in {"[", "{", ","} or after.isdigit() or after in {"]", "}"})
