"""Numbers told digit by digit, or in pairs all along: ``4 1 4 7 6 9 ...``, as transcripts and chats have them.

A card's is one by itself where it stands alone, as rows of digits do not; ids and telephones need a word for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.content.detectors.cards import is_card, may_be_card
from agent.content.detectors.evidence import has_word_near
from agent.content.detectors.national_ids import is_told_id
from agent.content.detectors.number import Number
from agent.content.detectors.phones import phone_span
from agent.content.detectors.weighing import MOST_WEIGHED, Weighing
from agent.content.detectors.words import CARD, ID
from agent.content.found import Found

# One mark all along; seven groups at least, and no more digits than the longest card has.
_TOLD: Final = re.compile(
    r"(?<![0-9A-Za-z_.,/:-])[0-9](?:(?P<one>[ .-]|, ?)[0-9](?:(?P=one)[0-9]){5,17}+"
    r"|[0-9](?P<two>[ .-]|, ?)[0-9]{2}(?:(?P=two)[0-9]{2}){4,7}+(?:(?P=two)[0-9])?+"
    r"|(?P<four>[ -])[0-9](?:(?P=four)[0-9]){2}(?:(?:,? {1,3}|[,;.-] ?| - )[0-9](?:(?P=four)[0-9]){2,5}){2,3})"
    r"(?![0-9A-Za-z_%]|[ .,:/-] ?[0-9])"
)
_GROUP: Final = re.compile("[0-9]+")
_BESIDE: Final = 4
_FEWEST_DIGITS: Final = 7


def told_numbers(text: str, weighing: Weighing | None = None) -> Iterator[Found]:
    """Each number of ``text`` that is told digit by digit and is a card's, a person's or a telephone's.

    What is weighed is counted in ``weighing``; of too many the later ones are not, and are taken for telephones.
    """
    for weighed, told in enumerate(_TOLD.finditer(text)):
        if weighed >= MOST_WEIGHED:
            yield Found(told.start(), told.end(), "phone")
            continue
        if weighing is not None:
            weighing.count += 1
        groups = tuple(_GROUP.findall(told[0]))
        number = Number(text, told.start(), told.end(), "".join(groups), groups, "told")
        found = _found(number, in_ones=told["two"] is None) if len(number.digits) >= _FEWEST_DIGITS else None
        if found is not None:
            yield found


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
