"""How many requests an instance takes of each of its callers (``RATE_LIMIT``), counted in this process alone.

The notation, the limits and the strategy of fixed windows are those of the library ``limits``. What is counted is kept
here: the library's own memory goes by the wall clock, whose jump would lock callers out, and starts a thread every ten
milliseconds of traffic (ADR 22). A window begins with a caller's first request and is forgotten when it is over.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from typing import Final

from limits import RateLimitItem, parse_many
from limits.storage import Storage
from limits.strategies import FixedWindowRateLimiter

from agent.errors import ConfigurationError, RateLimitExceeded

_NS: Final = 10**9
# The library reads "5/0 seconds" as "5/1 second".
_NO_TIME: Final = re.compile(r"(?:/|per)\s*0+\s*[a-z]", re.ASCII | re.IGNORECASE)


def limits_of(variable: str, text: str) -> tuple[RateLimitItem, ...]:
    """The limits of a setting, each once: ``100/second``, ``100/second;5000/hour``, ``20 per 5 minutes``.

    Raises ConfigurationError.
    """
    try:
        items = parse_many(text)
    except ValueError:
        # From None: the library's message repeats the value.
        raise ConfigurationError(
            variable, "must be a number of requests and their time, as in 100/second or 100/second;5000/hour"
        ) from None
    if _NO_TIME.search(text) or not all(item.amount for item in items):
        raise ConfigurationError(variable, "must let a request through in a time above 0; unset, there is no limit")
    # One that stands there twice would be taken from twice.
    return tuple(dict.fromkeys(items))


class RateLimit:
    """The same ``limits`` for each caller. Safe to use from several threads. ``monotonic_ns`` never goes back."""

    def __init__(self, limits: Sequence[RateLimitItem], *, monotonic_ns: Callable[[], int]) -> None:
        self._limits = tuple(limits)
        self._monotonic_ns = monotonic_ns
        self._windows = Windows(monotonic_ns)
        self._strategy = FixedWindowRateLimiter(self._windows)
        # Around all limits of a request: it takes from each of them, or from none.
        self._lock = threading.Lock()

    def spend(self, caller: bytes) -> None:
        """Take one request of ``caller``, a key's digest. What is refused spends nothing.

        Raises RateLimitExceeded; after its ``Retry-After`` there is room for a request.
        """
        name = caller.hex()
        with self._lock:
            full = [item for item in self._limits if not self._strategy.test(item, name)]
            if not full:
                for item in self._limits:
                    self._strategy.hit(item, name)
                return
            last = max(full, key=lambda item: self._windows.get_expiry(item.key_for(name)))
            left_ns = self._windows.get_expiry(last.key_for(name)) - self._monotonic_ns()
        raise RateLimitExceeded(
            f"this instance takes {last!r} of one caller, and no more",
            details={"limit": "rate"},
            headers={"Retry-After": str(max(1, -(-left_ns // _NS)))},
        )


class _Window:
    """What was taken until ``ends_ns``."""

    __slots__ = ("ends_ns", "taken")

    def __init__(self, ends_ns: int) -> None:
        self.ends_ns = ends_ns
        self.taken = 0


class Windows(Storage):
    """The windows that are open, as the library's strategies ask for them; instants in nanoseconds of ``monotonic_ns``.

    Takes no lock: whoever uses it from several threads has one. As large as the callers of the open windows are many.
    """

    STORAGE_SCHEME = None

    def __init__(self, monotonic_ns: Callable[[], int]) -> None:
        super().__init__()
        self._monotonic_ns = monotonic_ns
        self._open: dict[str, _Window] = {}

    @property
    def base_exceptions(self) -> tuple[type[Exception], ...]:
        """What of this storage's own may fail: nothing."""
        return ()

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """What was taken of the window with this ``amount``; a new window is open for ``expiry`` seconds."""
        now_ns = self._monotonic_ns()
        window = self._open.get(key)
        if window is None or window.ends_ns <= now_ns:
            # Whoever does not come again, as a key that was taken away, leaves nothing behind.
            self._open = {name: each for name, each in self._open.items() if each.ends_ns > now_ns}
            window = self._open[key] = _Window(now_ns + expiry * _NS)
        window.taken += amount
        return window.taken

    def get(self, key: str) -> int:
        """What was taken of the open window; 0 without one."""
        window = self._open.get(key)
        return 0 if window is None or window.ends_ns <= self._monotonic_ns() else window.taken

    def get_expiry(self, key: str) -> int:
        """When the window ends, or ended; now, without one."""
        window = self._open.get(key)
        return self._monotonic_ns() if window is None else window.ends_ns

    def check(self) -> bool:
        """Whether it works: it does."""
        return True

    def reset(self) -> int:
        """Forget all windows; how many there were."""
        count = len(self._open)
        self._open = {}
        return count

    def clear(self, key: str) -> None:
        """Forget one window."""
        self._open.pop(key, None)
