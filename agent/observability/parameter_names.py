"""Which names of parameters a log line may tell: those that read as words (CONTRACT 8: names, never values).

A parameter is named by whoever captured it, so its name is a caller's text: ``{"4111 1111 1111 1111": 1}`` is a
payload that passes. Told is what has the shape of an identifier: words of letters, each with a short number behind it
at most, joined by ``_``, ``-`` or ``.``; few digits in all, and not long. A card number, a telephone number, a date, an
address, a UUID, a key of letters and digits mixed and every sentence are not of this shape, and are only counted; so
are names in other scripts. A word that is a secret looks as a word does: nobody can tell it from a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final, NamedTuple

UNTOLD: Final = "<str>"
MOST_TOLD: Final = 50
_LONGEST: Final = 64
# A word: "order", "line2", "v1"; and between words a number of its own: "address_line_2". Four digits in all.
_NAME: Final = re.compile(
    rf"(?=.{{1,{_LONGEST}}}\Z)(?!(?:[^0-9]*[0-9]){{5}})"
    r"_?[A-Za-z]{1,32}[0-9]{0,3}(?:[_.-](?:[A-Za-z]{1,32}[0-9]{0,3}|[0-9]{1,2}))*\Z",
    re.ASCII,
)


class ToldNames(NamedTuple):
    """``names`` in order, each told as it is, and how many ``others`` there are."""

    names: tuple[str, ...]
    others: int


def told_name(name: str) -> str:
    """``name`` where it reads as one, else what stands for a text that is not told."""
    return name if _NAME.match(name) else UNTOLD


def told_names(names: Iterable[str]) -> ToldNames:
    """Of ``names`` those that read as such, sorted, 50 at most; the others are counted."""
    given = sorted(set(names))
    told = tuple(islice((name for name in given if _NAME.match(name)), MOST_TOLD))
    return ToldNames(told, len(given) - len(told))
