"""Quotas: requests a second and bytes a day, for a tenant or for one of its keys.

Counted in this process and forgotten with it: where several processes serve one store, each of them grants the whole
quota. A tenant's quota is shared by its keys; a key's own quota holds beside it. What is refused spends nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from store.errors import TooManyRequests

_NS: Final = 10**9
# One request, in nanoseconds times thousandths of a request a second: whole numbers, so that no rounding adds up.
_REQUEST: Final = 1000 * _NS


@dataclass(frozen=True, slots=True)
class Quota:
    """What ``name``, a tenant or a key's name, may use. ``milli_per_second`` are thousandths of a request.

    Requests come out of a bucket that fills at this rate and holds one second's worth, at least one request. Bytes
    are counted from one UTC midnight to the next. What is None does not hold.
    """

    name: str
    milli_per_second: int | None = None
    bytes_per_day: int | None = None


class Quotas:
    """What is left of each quota. Safe to use from several threads.

    ``monotonic_ns`` counts nanoseconds and never goes back; ``clock`` gives aware datetimes.
    """

    def __init__(
        self, quotas: Iterable[Quota] = (), *, monotonic_ns: Callable[[], int], clock: Callable[[], datetime]
    ) -> None:
        self._monotonic_ns = monotonic_ns
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, _Bucket] = {}
        self._days: dict[str, _Day] = {}
        for quota in quotas:
            if quota.milli_per_second is not None:
                self._buckets[quota.name] = _Bucket(quota.name, quota.milli_per_second)
            if quota.bytes_per_day is not None:
                self._days[quota.name] = _Day(quota.name, quota.bytes_per_day)

    def admit(self, names: tuple[str, ...], byte_count: int = 0) -> None:
        """Take one request from every quota of ``names``, or from none.

        ``byte_count`` is what the request announces: it must fit into the day, and is not taken yet. Raises
        TooManyRequests.
        """
        buckets = [self._buckets[name] for name in names if name in self._buckets]
        days = [self._days[name] for name in names if name in self._days]
        if not buckets and not days:
            return
        with self._lock:
            shortages = self._full_days(days, byte_count)
            now_ns = self._monotonic_ns()
            shortages += [shortage for bucket in buckets if (shortage := bucket.shortage(now_ns))]
            _refuse(shortages)
            for bucket in buckets:
                bucket.level -= _REQUEST

    def spend(self, names: tuple[str, ...], byte_count: int) -> None:
        """Take ``byte_count`` from the day of every quota of ``names``, or from none. Raises TooManyRequests."""
        days = [self._days[name] for name in names if name in self._days]
        if not days:
            return
        with self._lock:
            _refuse(self._full_days(days, byte_count))
            for day in days:
                day.used += byte_count

    def _full_days(self, days: list[_Day], byte_count: int) -> list[_Shortage]:
        """What is wrong with those of ``days`` that have no room for ``byte_count``."""
        now = self._clock().astimezone(UTC)
        midnight = datetime.combine(now.date(), time(), UTC) + timedelta(days=1)
        left_s = (midnight - now).total_seconds()
        return [shortage for day in days if (shortage := day.shortage(byte_count, now.date(), left_s))]


@dataclass(frozen=True, slots=True)
class _Shortage:
    """Why a request is refused, and for how long."""

    reason: str
    wait_s: float


class _Bucket:
    """Requests a second: full at first, then refilled at the rate."""

    def __init__(self, name: str, milli_per_second: int) -> None:
        self._name = name
        self._rate = milli_per_second
        self._most = max(milli_per_second * _NS, _REQUEST)
        self._filled_ns: int | None = None
        self.level = self._most

    def shortage(self, now_ns: int) -> _Shortage | None:
        """Refill up to ``now_ns``; what is wrong if there is no whole request then."""
        if self._filled_ns is not None:
            self.level = min(self._most, self.level + (now_ns - self._filled_ns) * self._rate)
        self._filled_ns = now_ns
        if self.level >= _REQUEST:
            return None
        whole_seconds = -((self.level - _REQUEST) // (self._rate * _NS))
        return _Shortage(f"the quota of {self._name} is {self._rate / 1000:g} requests a second", whole_seconds)


class _Day:
    """Bytes of one UTC day."""

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._date: date | None = None
        self.used = 0

    def shortage(self, byte_count: int, today: date, left_s: float) -> _Shortage | None:
        """Begin ``today`` if it is another day; what is wrong if ``byte_count`` more do not fit into it."""
        if today != self._date:
            self._date, self.used = today, 0
        if self.used + byte_count <= self._most:
            return None
        return _Shortage(f"the quota of {self._name} is {self._most} bytes a day, by UTC", left_s)


def _refuse(shortages: list[_Shortage]) -> None:
    """Raise TooManyRequests for the shortage that lasts longest, if there is one."""
    if shortages:
        longest = max(shortages, key=lambda shortage: shortage.wait_s)
        raise TooManyRequests(longest.reason, longest.wait_s)
