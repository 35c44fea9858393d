"""When metrics are sent: with the first request ten seconds after the last time, thirty after a time that failed.

They are sums since the process began, so a time that is left out loses nothing but its moment.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from agent.observability.logs import log_event

EVERY_S: Final = 10.0
_AFTER_A_FAILURE_S: Final = 30.0


class MetricsSchedule:
    """``clock`` is monotonic seconds. Whoever calls it holds a lock of his own."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._due = clock()
        self._failing = False

    def is_due(self) -> bool:
        """Whether it is time."""
        return self._clock() >= self._due

    def take(self) -> bool:
        """Whether it is time, which it then is no longer: one request sends them."""
        if not self.is_due():
            return False
        self._due = self._clock() + EVERY_S
        return True

    def settled(self, *, sent: bool) -> None:
        """Take note of what came of it; that it fails, and that it works again, is logged once."""
        if not sent:
            self._due = self._clock() + _AFTER_A_FAILURE_S
            if not self._failing:
                log_event("the collector does not take metrics", level=logging.WARNING)
        elif self._failing:
            log_event("the collector takes metrics again")
        self._failing = not sent
