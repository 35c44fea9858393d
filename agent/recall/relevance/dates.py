"""Dates: a question that names one is about what was said then, though nobody says a date when he speaks.

A turn has the day, the month and the year of its timestamp as words, and so has a query that names a month: by its name
in a few languages, as ``2022-07``, or as ``7月``. No clock: "last month" names none.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_MONTHS: Final = (
    "January Januar janvier enero gennaio janeiro januari январь января",
    "February Februar février febrero febbraio fevereiro februari февраль февраля",
    "March März mars marzo março maart март марта",
    "April avril abril aprile апрель апреля",
    "May Mai mayo maggio maio mei май мая",
    "June Juni juin junio giugno junho июнь июня",
    "July Juli juillet julio luglio julho июль июля",
    "August août agosto augustus август августа",
    "September septembre septiembre settembre setembro сентябрь сентября",
    "October Oktober octobre octubre ottobre outubro октябрь октября",
    "November novembre noviembre novembro ноябрь ноября",
    "December Dezember décembre diciembre dicembre dezembro декабрь декабря",
)
# In small letters they are other words.
_AMBIGUOUS: Final = frozenset({"may", "march", "august"})
_STAMP: Final = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])(?:-([0-9]{2}))?(?![0-9])")
_DAY: Final = re.compile(
    r"(?<![\w.:-])(0?[1-9]|[12][0-9]|3[01])(?:st|nd|rd|th)?(?![\w:-])|(0?[1-9]|[12][0-9]|3[01])[日일]"
)
_EAST_ASIAN: Final = re.compile("(1[0-2]|(?<![0-9])[1-9]) ?[月월]")
_WORD: Final = re.compile(r"[^\W\d_]+")


def stamped(timestamp: str | None) -> tuple[str, ...]:
    """The words for the date of an RFC 3339 ``timestamp``; none where it is none."""
    found = None if timestamp is None else _STAMP.match(timestamp)
    if found is None:
        return ()
    year, month, day = found.groups()
    return (_month(int(month)), *([_day(int(day))] if day else ()), year)


def named(query: str) -> tuple[str, ...]:
    """The words for the months that ``query`` names, and beside a month for days; a year is a word already."""
    stamps = list(_STAMP.finditer(query))
    months = [int(found[2]) for found in stamps]
    days = [int(found[3]) for found in stamps if found[3]]
    months += [int(found[1]) for found in _EAST_ASIAN.finditer(query)]
    months += [month for found in _WORD.finditer(query) if (month := _named(found)) is not None]
    days += [int(found[1] or found[2]) for found in _DAY.finditer(query)] if months else []
    return tuple(dict.fromkeys((*map(_month, months), *map(_day, days))))


def _named(found: re.Match[str]) -> int | None:
    word = found.group()
    folded = word.casefold()
    # The first word has a capital whatever it is.
    is_other = folded in _AMBIGUOUS and not (word[0].isupper() and found.start() > 0)
    return None if is_other else _names().get(folded)


def _month(number: int) -> str:
    # No word of a text has a space in it.
    return f"month {number}"


def _day(number: int) -> str:
    return f"day {number}"


@cache
def _names() -> dict[str, int]:
    return {name.casefold(): month for month, names in enumerate(_MONTHS, 1) for name in names.split()}
