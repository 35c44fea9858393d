"""Reads a message for one parameter, by what its hint says most closely."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

from agent.core.waiting.beside import vocabulary
from agent.core.waiting.corrections import Finder, meant
from agent.core.waiting.dates import dates
from agent.core.waiting.hint import Hint
from agent.core.waiting.listed import none_of_them, shared_words, values_of
from agent.core.waiting.numbers import identifying_digits, numbers
from agent.core.waiting.patterns import patterned
from agent.core.waiting.said import LONGEST, Found, folded
from agent.core.waiting.short_answers import short_answer
from agent.core.waiting.times import bare_hour, times
from agent.core.waiting.words import ORIGINS
from agent.core.waiting.yes_no import yes_or_no

_NUMERIC: Final = frozenset({"integer", "number"})


def value_in(text: str, hint: Hint) -> Found | None:
    """The one value that ``text`` says for ``hint``, and where; None where it says none, or more than one."""
    if len(text) > LONGEST:
        return None
    text = unicodedata.normalize("NFC", text)
    plain = folded(text)
    if hint.type == "boolean":
        answer = yes_or_no(plain, vocabulary(hint))
        return None if answer is None else Found(0, len(text), answer)
    find = _finder(hint)
    if find is None:
        return short_answer(text, plain, hint) if hint.type == "string" else None
    found = meant(plain, find, vocabulary(hint, shared_words(hint)), is_sum=hint.is_of_numbers or hint.has_numbers)
    return found if found is not None or not hint.values else none_of_them(plain, hint)


def _finder(hint: Hint) -> Finder | None:
    """What finds all that may be a value for ``hint``; None for an answer in words, and for a hint without a type."""
    if hint.values:
        return values_of(hint)
    pattern = hint.pattern
    if pattern is not None:
        return lambda text: _typed(patterned(text, pattern), hint)
    finders: dict[str, Finder] = {
        "integer": lambda text: numbers(text, hint),
        "number": lambda text: numbers(text, hint),
        "digits": identifying_digits,
        "date": lambda text: dates(text, departing=bool(hint.name_words & ORIGINS)),
        "time": lambda text: times(text) or bare_hour(text),
    }
    return finders.get(hint.type or "")


def _typed(found: Sequence[Found], hint: Hint) -> list[Found]:
    """What a pattern matched, as a number where the hint says that it is one."""
    if hint.type not in _NUMERIC:
        return list(found)
    return [Found(each.start, each.end, value.value) for each in found for value in numbers(str(each.value), hint)]
