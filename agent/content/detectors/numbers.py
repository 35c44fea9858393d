"""Cards, ids of persons and telephone numbers among the digits of a text: each number is the first that it can be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agent.content.detectors.cards import is_card, may_be_card
from agent.content.detectors.evidence import has_word_near
from agent.content.detectors.national_ids import is_national_id, may_be_national_id
from agent.content.detectors.number import Number, numbers_in, runs_in
from agent.content.detectors.phones import phone_span
from agent.content.detectors.words import CARD, ID
from agent.content.found import Found

# Of a text with more numbers than these nobody wants each weighed: from there on any is replaced, rather too much.
_MOST_WEIGHED: Final = 20_000


def numbers_found(text: str) -> Iterator[Found]:
    """Each number of ``text`` that is a card's, a person's or a telephone's."""
    weighed = 0
    for start, end in runs_in(text):
        if weighed >= _MOST_WEIGHED:
            yield Found(start, end, "phone")
            continue
        numbers = numbers_in(text, start, end)
        weighed += len(numbers)
        yield from _first_of(numbers)


def _first_of(numbers: list[Number]) -> list[Found]:
    """What ``numbers``, which may overlap, are: cards first, then ids, then telephones, and the longer first."""
    taken: list[Found] = []
    for kind_of in (_as_card, _as_national_id, _as_phone):
        for number in numbers:
            if any(number.start < each.end and each.start < number.end for each in taken):
                continue
            found = kind_of(number)
            if found is not None:
                taken.append(found)
    return taken


def _as_card(number: Number) -> Found | None:
    if not may_be_card(number):
        return None
    has_word = has_word_near(number.text, number.start, number.end, CARD)
    return Found(number.start, number.end, "card") if is_card(number, has_word=has_word) else None


def _as_national_id(number: Number) -> Found | None:
    if not may_be_national_id(number):
        return None
    has_word = has_word_near(number.text, number.start, number.end, ID)
    return Found(number.start, number.end, "national_id") if is_national_id(number, has_word=has_word) else None


def _as_phone(number: Number) -> Found | None:
    span = phone_span(number)
    return None if span is None else Found(*span, "phone")
