"""A launcher that gives a Python process a wall clock of its own: off by the seconds that a file holds, at any time.

    python tests/chaos/shifted_clock.py OFFSET_FILE MODULE ARGUMENT...

runs MODULE as ``python -m`` does. Covered are ``time.time``, ``time_ns``, ``clock_gettime(CLOCK_REALTIME)``,
``gmtime``, ``localtime``, ``ctime`` and ``strftime`` without an instant, ``datetime.now``, ``utcnow`` and ``today``,
``date.today``, in this process and in what it forks, whatever is imported later. Not covered is what asks the kernel in
C or Rust (libpq, PostgreSQL, a file's times), and, as on a machine whose clock is set, what is monotonic: waits and
deadlines.
"""

from __future__ import annotations

import datetime as dt
import os
import runpy
import sys
import time
from typing import Any

_SEEN_FOR_S = 0.02
_date, _datetime = dt.date, dt.datetime
_monotonic, _real = time.monotonic, {name: getattr(time, name) for name in ("time", "time_ns", "clock_gettime")}
_broken_down = {name: getattr(time, name) for name in ("gmtime", "localtime", "ctime")}
_strftime = time.strftime


class _Offset:
    """Seconds, read from the file now and then: who asks for the time asks often."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seconds = 0.0
        self._read_at = float("-inf")

    def __call__(self) -> float:
        now = _monotonic()
        if now - self._read_at > _SEEN_FOR_S:
            self._read_at = now
            try:
                with open(self._path) as file:  # noqa: PTH123 - pathlib is not to be loaded before the clock is set
                    self._seconds = float(file.read() or 0)
            except (OSError, ValueError):
                # It is being written, or not there: as before.
                pass
        return self._seconds


def _shift_time(offset: _Offset) -> None:
    vars(time)["time"] = lambda: _real["time"]() + offset()
    vars(time)["time_ns"] = lambda: _real["time_ns"]() + int(offset() * 1e9)
    vars(time)["clock_gettime"] = lambda clock: (
        _real["clock_gettime"](clock) + (offset() if clock == time.CLOCK_REALTIME else 0)
    )
    for name, real in _broken_down.items():
        vars(time)[name] = lambda seconds=None, real=real: real(time.time() if seconds is None else seconds)
    vars(time)["strftime"] = lambda text, instant=None: _strftime(text, instant or time.localtime())


def _shift_datetime(offset: _Offset) -> None:
    """Classes that make and know instances of the real ones, so that C code which looks at types meets nothing new."""

    class Known(type):
        real: type

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, cls.real)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, cls.real)

    class Date(_date, metaclass=Known):
        # No dictionary: C code compares the size of these classes with what it was compiled for.
        __slots__ = ()
        real = _date

        def __new__(cls, *arguments: Any, **named: Any) -> Any:
            return _date(*arguments, **named)

        @classmethod
        def today(cls) -> Any:
            return _datetime.fromtimestamp(time.time()).date()

    class Datetime(_datetime, metaclass=Known):
        __slots__ = ()
        real = _datetime

        def __new__(cls, *arguments: Any, **named: Any) -> Any:
            return _datetime(*arguments, **named)

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return _datetime.now(tz) + dt.timedelta(seconds=offset())

        @classmethod
        def utcnow(cls) -> Any:
            return _datetime.now(dt.UTC).replace(tzinfo=None) + dt.timedelta(seconds=offset())

        @classmethod
        def today(cls) -> Any:
            return cls.now()

    vars(dt)["date"], vars(dt)["datetime"] = Date, Datetime


def main() -> None:
    """Shift the clock, then become the module."""
    offset = _Offset(sys.argv[1])
    _shift_time(offset)
    _shift_datetime(offset)
    # The folder of this file is no place to import from; that of `python -m` is.
    sys.path[0] = os.getcwd()  # noqa: PTH109 - as above
    sys.argv[:] = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
