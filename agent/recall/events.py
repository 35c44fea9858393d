"""Events of a query, page after page behind the scenes, each envelope as it came."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Unpack

from agent.ruvector.feed import FedEvent
from agent.ruvector.reads import EventFilters, StoreReads

# A page is held whole: large enough that a page's own cost does not count, small enough for a small machine.
PAGE: Final = 200


def events(reads: StoreReads, *, limit: int | None = None, **which: Unpack[EventFilters]) -> Iterator[FedEvent]:
    """The events that ``which`` names, at most ``limit`` of them, in ascending order unless asked.

    One page is in memory at a time. Raises as ``StoreReads`` does, in the middle too.
    """
    cursor: str | None = None
    left = limit
    while left is None or left > 0:
        page = reads.raw_events(limit=PAGE if left is None else min(PAGE, left), cursor=cursor, **which)
        yield from page.events
        left = None if left is None else left - len(page.events)
        cursor = page.next_cursor
        if cursor is None:
            return
