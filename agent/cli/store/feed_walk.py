"""A walk along another store's feed that ends, whatever the other store answers.

Stores page differently: a cursor that is opaque or counts, positions or none, a last page that is empty, short, or
names no cursor. And one that is deployed repeats: its cursor comes again, or its pages hold what was read already.
Such a page ends the walk and is told (``stuck``): nobody knows what lies behind it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Protocol

from agent.ruvector.feed import FedEvent, FeedPage


class ReadPage(Protocol):
    """Reads one page of a feed."""

    def __call__(self, after: str | None, /, *, limit: int, types: tuple[str, ...]) -> FeedPage: ...


class FeedWalk:
    """One walk. ``cursor`` is where another would go on: all before it was yielded, and what was yielded dealt with."""

    def __init__(self, read: ReadPage, after: str | None, limit: int, types: tuple[str, ...]) -> None:
        self._read: Callable[[str | None], FeedPage] = lambda place: read(place, limit=limit, types=types)
        self._types = types
        self._highest = -1
        self._cursors = {after}
        self._pages: set[bytes] = set()
        self.cursor = after
        self.stuck = False

    def events(self) -> Iterator[FedEvent]:
        """The events of the feed, each page read when the one before it is dealt with."""
        while not self.stuck:
            page = self._read(self.cursor)
            if not page.events:
                return
            if not self._advances(page):
                self.stuck = True
                return
            # A store that does not know the filter feeds everything.
            yield from (event for event in page.events if not self._types or event.type in self._types)
            cursor = page.next_cursor
            if cursor is None:
                self.stuck = page.is_open
                return
            self.stuck = cursor in self._cursors
            self._cursors.add(cursor)
            self.cursor = cursor

    def _advances(self, page: FeedPage) -> bool:
        """Whether a page has a position beyond all that were read; where positions are missing, whether it is new."""
        positions = [event.position for event in page.events if event.position is not None]
        if len(positions) == len(page.events):
            is_new = max(positions) > self._highest
            self._highest = max(self._highest, *positions)
            return is_new
        digest = hashlib.sha256(b"\n".join(event.text for event in page.events)).digest()
        is_new = digest not in self._pages
        self._pages.add(digest)
        return is_new
