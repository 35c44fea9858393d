"""Reads a message for one parameter, by what its hint says most closely."""

from __future__ import annotations

import unicodedata
from typing import Final

from agent.core.waiting.corrections import meant
from agent.core.waiting.dates import dates, of_its_way
from agent.core.waiting.hint import Hint
from agent.core.waiting.listed import listed, none_of_them
from agent.core.waiting.numbers import identifying_digits, numbers
from agent.core.waiting.patterns import patterned
from agent.core.waiting.said import LONGEST, Found, folded, statements
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
        answer = yes_or_no(plain)
        return None if answer is None else Found(0, len(text), answer)
    said = statements(plain)
    found = meant(plain, _read(text, plain, said, hint))
    return None if found is None or found.value is None else found


def _read(text: str, plain: str, said: str, hint: Hint) -> list[Found]:
    """All that may be a value for ``hint``."""
    found: list[Found] = []
    if hint.values:
        found = listed(said, hint) or none_of_them(plain, hint)
    elif hint.pattern is not None:
        found = _typed(patterned(said, hint.pattern), hint)
    elif hint.type in _NUMERIC:
        found = numbers(said, hint)
    elif hint.type == "digits":
        found = identifying_digits(said)
    elif hint.type == "date":
        found = _days(said, hint)
    elif hint.type == "time":
        found = times(said) or bare_hour(said)
    elif hint.type == "string":
        found = short_answer(text, plain, said, hint)
    return found


def _days(said: str, hint: Hint) -> list[Found]:
    """The days of ``said``; of the other way, where the parameter is one of two, they are none."""
    departing, returning = bool(hint.name_words & ORIGINS), "return" in hint.name_words
    found = dates(said, departing=departing)
    return of_its_way(said, found, returning=returning) if departing or returning else found


def _typed(found: list[Found], hint: Hint) -> list[Found]:
    """What a pattern matched, as a number where the hint says that it is one."""
    if hint.type not in _NUMERIC:
        return found
    return [Found(each.start, each.end, value.value) for each in found for value in numbers(str(each.value), hint)]
