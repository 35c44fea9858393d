"""Times as other programs write them, as RFC 3339 (CONTRACT 2). What is none of these is no time: None.

A message whose time was written otherwise keeps it as it came in ``metadata.native``: several spellings mean one
instant, and only one of them is given back.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from agent.core.timestamps import is_date_time, utc_text

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def stated(value: object) -> str | None:
    """``value`` if it is an RFC 3339 date-time with an offset."""
    return value if isinstance(value, str) and is_date_time(value) else None


def from_epoch(value: object, *, per_second: int = 1) -> str | None:
    """Seconds since 1970 (or parts of a second, ``per_second`` of them), to the microsecond; 0 and less are no time.

    Exporters write 0 where they know none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    try:
        if isinstance(value, int):
            return utc_text(_EPOCH + timedelta(microseconds=value * 10**6 // per_second))
        return utc_text(_EPOCH + timedelta(seconds=value / per_second))
    except OverflowError:
        return None
