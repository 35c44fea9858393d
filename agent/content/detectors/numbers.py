"""Cards, ids of persons and telephone numbers among the digits of a text: each number is the first that it can be."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from agent.content.detectors.cards import is_card, may_be_card
from agent.content.detectors.evidence import has_word_near, is_named_otherwise
from agent.content.detectors.national_ids import is_national_id, may_be_national_id
from agent.content.detectors.number import Number, numbers_in, runs_in
from agent.content.detectors.phones import is_from_abroad, phone_span
from agent.content.detectors.weighing import Weighing
from agent.content.detectors.words import CARD, ID, PHONE
from agent.content.found import Found

# What a number of which a word says that a state gave it takes more, and a run in which none is, in characters.
_OF_AN_ID: Final = 2_400
_OF_A_RUN: Final = 40
_OF_A_RUN_OF_GROUPS: Final = 120


def numbers_found(text: str, weighing: Weighing | None = None) -> Iterator[Found]:
    """Each number of ``text`` that is a card's, a person's or a telephone's; what is weighed is counted."""
    weighing = weighing or Weighing()
    last: Found | None = None
    for start, end in runs_in(text):
        if weighing.is_full:
            yield Found(start, end, "phone")
            continue
        numbers = numbers_in(text, start, end)
        weighing.count += len(numbers)
        weighing.characters += _OF_A_RUN if text[start:end].isdigit() else _OF_A_RUN_OF_GROUPS
        found = _first_of(numbers, last, weighing)
        last = max((each for each in found if each.kind == "phone"), default=last)
        yield from found


def _first_of(numbers: list[Number], last: Found | None, weighing: Weighing) -> list[Found]:
    """What ``numbers``, which may overlap, are: cards, telephones from abroad, ids, others, and the longer first.

    ``last`` is the telephone before them: it speaks for the one after it, and so on through a list of any length.
    """
    taken: list[Found] = []

    def as_phone(number: Number) -> Found | None:
        before = [each for each in taken if each.kind == "phone" and each.end <= number.start]
        return _as_phone(number, max(before, default=last))

    def as_phone_from_abroad(number: Number) -> Found | None:
        return as_phone(number) if is_from_abroad(number) else None

    for kind_of in (_as_card, as_phone_from_abroad, partial(_as_national_id, weighing), as_phone):
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


def _as_national_id(weighing: Weighing, number: Number) -> Found | None:
    if not may_be_national_id(number):
        return None
    has_word = has_word_near(number.text, number.start, number.end, ID) and not is_named_otherwise(
        number.text, number.start, ID, PHONE
    )
    # Every country is asked.
    weighing.characters += _OF_AN_ID if has_word else 0
    return Found(number.start, number.end, "national_id") if is_national_id(number, has_word=has_word) else None


def _as_phone(number: Number, last: Found | None) -> Found | None:
    span = phone_span(number, last)
    return None if span is None else Found(*span, "phone")
