"""A setting that holds several entries: read one by one, refused by the place of the one that is wrong.

No value is repeated: most of these settings are secrets, or hold one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from agent.errors import ConfigurationError

T = TypeVar("T")


class WrongEntry(Exception):
    """What is wrong with one entry, as in ``must be above 0``; never what it holds."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def entries(variable: str, text: str, read: Callable[[str], T]) -> tuple[T, ...]:
    """The entries of ``text``, between commas or line ends; blank ones do not count. A blank text has none.

    ``read`` raises WrongEntry, which becomes a ConfigurationError of the variable. A text of separators alone was meant
    to hold something.
    """
    if not text.strip():
        return ()
    found: list[T] = []
    for entry in filter(None, (part.strip() for part in re.split(r"[,\n]", text))):
        try:
            found.append(read(entry))
        except WrongEntry as wrong:
            place = len(found) + 1
            raise ConfigurationError(variable, f"the {ordinal(place)} entry {wrong.reason}", place=place) from None
    if not found:
        raise ConfigurationError(variable, "holds separators and no entry")
    return tuple(found)


def ordinal(place: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st."""
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"
