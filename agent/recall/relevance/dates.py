"""Months and years: a question that names one is about what was said then, though nobody says a date when he speaks.

A turn has the month and the year of its timestamp as words, and so has a query that names them: by its name in a few
languages, as ``2022-07``, or as ``7月``. No clock: "last month" names none.
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
_AMBIGUOUS: Final = frozenset({"may", "march", "august", "mars"})
_STAMP: Final = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])(?![0-9])")
_EAST_ASIAN: Final = re.compile("(1[0-2]|(?<![0-9])[1-9]) ?[月월]")
_WORD: Final = re.compile(r"[^\W\d_]+")


def stamped(timestamp: str | None) -> tuple[str, ...]:
    """The words for the month and the year of an RFC 3339 ``timestamp``; none where it is none."""
    found = None if timestamp is None else _STAMP.match(timestamp)
    return () if found is None else (_word(int(found[2])), found[1])


def named(query: str) -> tuple[str, ...]:
    """The words for the months that ``query`` names; a year is a word already."""
    months = [int(found[2]) for found in _STAMP.finditer(query)]
    months += [int(found[1]) for found in _EAST_ASIAN.finditer(query)]
    for found in _WORD.finditer(query):
        word = found.group()
        folded = word.casefold()
        # The first word has a capital whatever it is.
        if folded not in _AMBIGUOUS or (word[0].isupper() and found.start() > 0):
            months += [_names()[folded]] if folded in _names() else []
    return tuple(map(_word, dict.fromkeys(months)))


def _word(month: int) -> str:
    # No word of a text has a space in it.
    return f"month {month}"


@cache
def _names() -> dict[str, int]:
    return {name.casefold(): month for month, names in enumerate(_MONTHS, 1) for name in names.split()}
