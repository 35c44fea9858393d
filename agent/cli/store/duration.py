"""An age as people write it: a whole number and a unit, ``30d``, ``12h``, ``8w``."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from agent.errors import ConfigurationError

_AGE: Final = re.compile(r"([0-9]{1,6})([hdw])\Z", re.ASCII)
_UNITS: Final = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
# As far as a clock of this century can go back, with room: a datetime ends at the year 1.
_LONGEST: Final = timedelta(days=366 * 1000)


def age(option: str, text: str) -> timedelta:
    """The age that ``text`` says. Raises ConfigurationError, which names ``option``.

    Zero is refused: it would take what is being said now.
    """
    match = _AGE.match(text)
    if match is None or int(match[1]) == 0:
        raise ConfigurationError(option, "must be a whole number above 0 with h, d or w, as in 30d")
    found = int(match[1]) * _UNITS[match[2]]
    if found > _LONGEST:
        raise ConfigurationError(option, "is longer than a thousand years")
    return found
