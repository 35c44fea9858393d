"""RFC 3339 date-times as CONTRACT 2 narrows them: what is one, and which instant it names.

Stricter than most checkers: an offset is required, nothing stands before or after, years 0001-9999 also after
conversion to UTC, second 60 only at 23:59 with a zero offset, no ``24:00``. Fraction digits are unlimited.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

_DATE_TIME: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))\Z", re.ASCII
)
# A date-time that is right whatever the rest of CONTRACT 2 says: no leap second, no 29 February, and a year that no
# offset can carry out of 0001-9999. Any other is looked at closely.
EVIDENT_DATE_TIME: Final = re.compile(
    r"(?!000[01]|9999)[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)"
    r"|(?:0[13578]|1[02])-31)[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?"
    r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])\Z"
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NANOSECOND: Final = 10**9
# 9999-12-31T23:59:59Z
_LAST_SECOND: Final = 253_402_300_799
_USUAL_LENGTH: Final = len("2026-03-02T08:15:00Z")


def is_date_time(text: object) -> bool:
    """Whether ``text`` is a date-time that the contract accepts."""
    if not isinstance(text, str):
        return False
    if EVIDENT_DATE_TIME.match(text):
        return True
    try:
        instant(text)
    except ValueError:
        return False
    return True


def instant(text: str) -> int:
    """Nanoseconds since 1970-01-01T00:00:00Z; digits beyond the ninth are cut, a leap second counts as the next one.

    Raises ValueError where ``text`` is no date-time in the sense of CONTRACT 2.
    """
    seconds = _seconds_of_usual_form(text)
    if seconds is not None:
        return seconds * _NANOSECOND
    match = _DATE_TIME.match(text)
    if match is None:
        raise ValueError("not an RFC 3339 date-time with an offset")
    year, month, day, hour, minute, second = (int(match[i]) for i in range(1, 7))
    leap = second == 60
    offset = _offset(match[8], match[9], match[10])
    if leap and not (hour == 23 and minute == 59 and offset == timedelta(0) and match[8] != "-"):
        raise ValueError("second 60 stands only at 23:59 with a zero offset")
    try:
        moment = datetime(year, month, day, hour, minute, 59 if leap else second, tzinfo=timezone(offset))
        seconds = (moment.astimezone(UTC) - _EPOCH) // timedelta(seconds=1)
    except OverflowError:
        raise ValueError("the year leaves 0001-9999 in UTC") from None
    if seconds + leap > _LAST_SECOND:
        raise ValueError("the year leaves 0001-9999 in UTC")
    fraction = int(match[7][:9].ljust(9, "0")) if match[7] else 0
    return (seconds + leap) * _NANOSECOND + fraction


def _seconds_of_usual_form(text: str) -> int | None:
    """Seconds since 1970 of ``YYYY-MM-DDTHH:MM:SSZ``, which most are and datetime reads at a tenth of the cost.

    None for any other form, and for what is no date-time: both are looked at in full.
    """
    if len(text) != _USUAL_LENGTH or not text.isascii() or text[4::3][:5] != "--T::" or text[-1] != "Z":
        return None
    try:
        return int(datetime.fromisoformat(text).timestamp())
    except ValueError:
        return None


def _offset(sign: str | None, hours: str | None, minutes: str | None) -> timedelta:
    if sign is None or hours is None or minutes is None:
        return timedelta(0)
    if int(hours) > 23 or int(minutes) > 59:
        raise ValueError("the offset is out of range")
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    return -offset if sign == "-" else offset


def utc_text(moment: datetime) -> str:
    """``moment`` in UTC as RFC 3339 with ``Z`` and microseconds."""
    # Not by strftime: its year has four digits only where the C library gives it four.
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
