"""When a failing collector is left alone: after 3 failures in a row, for 30 seconds, then one export tries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

PAUSE_S: Final = 30.0
_FAILURES_TO_PAUSE: Final = 3


class Pause:
    """``clock`` is monotonic seconds. Whoever calls it holds a lock of his own."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._failures = 0
        self._until: float | None = None

    def admits(self) -> bool:
        """Whether an export may be tried now."""
        if self._until is None:
            return True
        if self._clock() < self._until:
            return False
        # One tries; the others wait for what comes of it.
        self._until = self._clock() + PAUSE_S
        return True

    def succeeded(self) -> bool:
        """Whether this success ends a pause."""
        ended = self._until is not None
        self._failures, self._until = 0, None
        return ended

    def failed(self) -> bool:
        """Whether this failure begins a pause; one that goes on does not begin."""
        self._failures += 1
        if self._failures < _FAILURES_TO_PAUSE:
            return False
        begins = self._until is None
        self._until = self._clock() + PAUSE_S
        return begins
