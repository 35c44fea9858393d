"""The store's feed followed beyond a position, as long as somebody listens: nothing is lost, nothing comes twice.

A store that goes away is waited for, longer each time up to a bound, and asked again from where it stopped. What will
not pass by waiting ends it: a key that is refused, a store without a feed, or one that cannot read what it keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Final

from agent.errors import AgentError, RateLimitExceeded, StoreDamaged, StoreError, StoreNotFound, StoreWriteError
from agent.ruvector.feed import FedEvent, FeedPage
from agent.ruvector.reads import StoreReads

# A store that is restarted is back within this; one that is away for a night is not asked every second.
LONGEST_WAIT_S: Final = 30.0


class Follow:
    """One walk along the feed. ``sleep`` waits for so many seconds, ``interval`` of them where nothing is new.

    ``away`` is told the first failure of several in a row, and ``back`` when the store answers again.
    """

    def __init__(
        self,
        reads: StoreReads,
        *,
        after: int,
        interval: float,
        sleep: Callable[[float], None],
        away: Callable[[AgentError], None],
        back: Callable[[], None],
    ) -> None:
        self._reads = reads
        # Our store takes a position in place of a cursor.
        self._cursor = str(after)
        self._position = after
        self._interval = interval
        self._sleep = sleep
        self._away = away
        self._back = back
        self._has_feed = False

    def events(self) -> Iterator[FedEvent]:
        """Every event beyond the position, when it comes; without an end. Raises what does not pass by waiting."""
        while True:
            page = self._page()
            new = [event for event in page.events if position_of(event) > self._position]
            for event in new:
                self._position = position_of(event)
                yield event
            self._cursor = page.next_cursor or str(self._position)
            if not new:
                self._sleep(self._interval)

    def _page(self) -> FeedPage:
        failures = 0
        while True:
            try:
                page = self._reads.feed(self._cursor, shown=True)
            except (StoreError, RateLimitExceeded) as error:
                self._raise_if_final(error)
                failures += 1
                if failures == 1:
                    self._away(error)
                self._sleep(self._wait(failures, error))
            else:
                self._has_feed = True
                if failures:
                    self._back()
                return page

    def _wait(self, failures: int, error: AgentError) -> float:
        longest = max(self._interval, LONGEST_WAIT_S)
        # No more than 2^10: the bound is reached long before, and a float has an end.
        grown = min(self._interval * 2.0 ** min(failures, 10), longest)
        return max(grown, float(error.headers.get("Retry-After", "0")))

    def _raise_if_final(self, error: AgentError) -> None:
        if isinstance(error, StoreNotFound):
            # One that fed before has it back when it is set up again.
            if not self._has_feed:
                raise StoreNotFound("this store has no feed of events", details=error.details) from error
        elif isinstance(error, StoreWriteError):
            is_refused = HTTPStatus(400) <= error.upstream_status < HTTPStatus(500)
            if is_refused or isinstance(error, StoreDamaged):
                raise error


def position_of(event: FedEvent) -> int:
    """The position of ``event``. Raises StoreWriteError where the store names none: its feed cannot be followed."""
    if event.position is None:
        raise StoreWriteError("the store's events have no position, so they cannot be followed", upstream_status=200)
    return event.position
