"""Events of a query, page after page behind the scenes, each envelope as it came."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Unpack

from agent.errors import StoreNotFound, StoreWriteError
from agent.ruvector.feed import FedEvent, FeedPage
from agent.ruvector.reads import EventFilters, StoreReads

# A page is held whole: large enough that a page's own cost does not count, small enough for a small machine.
PAGE: Final = 200


def events(reads: StoreReads, *, limit: int | None = None, shown: bool = True, **which: Unpack[EventFilters]) -> Events:
    """The events that ``which`` names, at most ``limit`` of them, in ascending order unless asked.

    ``shown`` as ``StoreReads.feed`` has it.
    """
    return Events(reads, limit, which, shown=shown)


class Events(Iterator[FedEvent]):
    """One walk along a list of events, with one page in memory at a time.

    Raises as ``StoreReads`` does, in the middle too, and StoreWriteError where the store's pages do not advance.
    ``more``, known at the end: whether the store has events beyond these; None where it does not say.
    """

    def __init__(self, reads: StoreReads, limit: int | None, which: EventFilters, *, shown: bool) -> None:
        self._reads = reads
        self._shown = shown
        self._which = which
        self._walk = self._events(limit)
        self.more: bool | None = None

    def __next__(self) -> FedEvent:
        return next(self._walk)

    def _events(self, limit: int | None) -> Iterator[FedEvent]:
        cursor: str | None = None
        left = limit
        while left is None or left > 0:
            page = self._page(PAGE if left is None else min(PAGE, left), cursor)
            shown = page.events[:left]
            yield from shown
            self.more = _more(page, len(shown))
            left = None if left is None else left - len(shown)
            if page.next_cursor is None:
                return
            if page.next_cursor == cursor:
                raise StoreWriteError("the store's pages do not advance", upstream_status=200)
            cursor = page.next_cursor

    def _page(self, limit: int, cursor: str | None) -> FeedPage:
        try:
            return self._reads.raw_events(limit=limit, cursor=cursor, shown=self._shown, **self._which)
        except StoreNotFound as error:
            raise StoreNotFound("this store has no list of events", details=error.details) from error


def _more(page: FeedPage, shown: int) -> bool | None:
    if page.next_cursor is not None or shown < len(page.events):
        return True
    return None if page.is_open else False
