"""Sessions of a query, newest activity first, page after page behind the scenes."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Final, Unpack

from agent.errors import StoreNotFound, StoreWriteError
from agent.ruvector.models import SessionPage, SessionRow
from agent.ruvector.reads import SessionFilters, StoreReads

# A page is held whole: large enough that a page's own cost does not count, small enough for a small machine.
PAGE: Final = 200


class Sessions(Iterator[SessionRow]):
    """One walk along the sessions that ``which`` names, at most ``limit`` of them, with one page in memory at a time.

    Raises as ``StoreReads`` does, in the middle too, and StoreWriteError where the store's pages do not advance.
    ``more``, known at the end: whether the store has sessions beyond these; None where it does not say.
    """

    def __init__(self, reads: StoreReads, *, limit: int, **which: Unpack[SessionFilters]) -> None:
        self._reads = reads
        self._which = which
        self._walk = self._sessions(limit)
        self.more: bool | None = None

    def __next__(self) -> SessionRow:
        return next(self._walk)

    def _sessions(self, left: int) -> Iterator[SessionRow]:
        cursor: str | None = None
        while left > 0:
            asked = min(PAGE, left)
            page = self._page(asked, cursor)
            shown = page.sessions[:left]
            yield from shown
            self.more = _more(page, asked, len(shown))
            left -= len(shown)
            # An empty cursor says that nothing follows.
            if not page.next_cursor:
                return
            if page.next_cursor == cursor:
                raise StoreWriteError("the store's pages do not advance", upstream_status=HTTPStatus.OK)
            cursor = page.next_cursor

    def _page(self, limit: int, cursor: str | None) -> SessionPage:
        try:
            return self._reads.sessions(limit=limit, cursor=cursor, **self._which)
        except StoreNotFound as error:
            raise StoreNotFound("this store has no list of sessions", details=error.details) from error


def _more(page: SessionPage, asked: int, shown: int) -> bool | None:
    if page.next_cursor or shown < len(page.sessions):
        return True
    # A full page without a cursor that is not null either: nobody knows what lies behind it.
    is_open = "next_cursor" not in page.model_fields_set and len(page.sessions) >= asked
    return None if is_open else False
