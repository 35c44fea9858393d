"""One page of the list of sessions, as long as it was asked for: the store may give it in parts."""

from __future__ import annotations

from http import HTTPStatus

from agent.errors import StoreNotFound, StoreWriteError
from agent.ruvector.models import SessionPage
from agent.ruvector.reads import SessionFilters, StoreReads


def session_page(
    reads: StoreReads, which: SessionFilters, *, limit: int, offset: int | None = None, cursor: str | None = None
) -> SessionPage:
    """``limit`` sessions from ``offset`` or ``cursor`` on, newest activity first; their ``total`` without a cursor.

    To count them takes the store longer than a page, and who walks along them has the total of the first.
    Who counts an offset on by ``limit`` skips a session where a page is shorter. Raises as ``StoreReads`` does.
    """
    try:
        page = reads.sessions(limit=limit, offset=offset, cursor=cursor, total=cursor is None, **which)
        found, following = list(page.sessions), page.next_cursor
        while following and len(found) < limit:
            more = reads.sessions(limit=limit - len(found), cursor=following, **which)
            if more.next_cursor == following:
                raise StoreWriteError("the store's pages do not advance", upstream_status=HTTPStatus.OK)
            found += more.sessions
            following = more.next_cursor
    except StoreNotFound as error:
        raise StoreNotFound("this store has no list of sessions", details=error.details) from error
    # An empty cursor says that nothing follows.
    return SessionPage(sessions=tuple(found), next_cursor=following or None, total=page.total)
