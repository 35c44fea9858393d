"""``GET /api/conversations``: the sessions, newest activity first, by an offset or by a cursor.

The filters are the store's, and their values are checked here as it checks them: what it refused would be a fault of
ours to whoever asked.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from agent.errors import Problem, StoreWriteError, ValidationError
from agent.recall.http.answer import Answer, document
from agent.recall.http.query import Query
from agent.recall.http.request import Request
from agent.recall.session_page import session_page
from agent.ruvector.models import SessionPage, SessionRow
from agent.ruvector.reads import SessionFilters

MAX_SESSIONS: Final = 1000
_DEFAULT: Final = 50
_LONGEST_SEARCH: Final = 500
_FILTERS: Final = ("user_id", "agent_id", "tag", "from", "to", "q")


def session_list(request: Request) -> Answer:
    """One page of sessions. How many there are in all is said by offset alone: counting costs more than a page."""
    query = request.query("limit", "offset", "cursor", *_FILTERS)
    limit = query.whole_number("limit", lowest=1, highest=MAX_SESSIONS) or _DEFAULT
    offset, cursor = query.whole_number("offset"), query.text("cursor")
    if offset is not None and cursor is not None:
        message = "offset and cursor exclude each other"
        raise ValidationError(message, [Problem("$.offset", "unsupported"), Problem("$.cursor", "unsupported")])
    page = _page(request, _filters(query), limit=limit, offset=offset, cursor=cursor)
    counted = {"total_sessions": page.total, "offset": offset or 0} if cursor is None else {}
    sessions = list(map(_shown, page.sessions))
    return document({"sessions": sessions, **counted, "limit": limit, "next_cursor": page.next_cursor})


def _page(
    request: Request, which: SessionFilters, *, limit: int, offset: int | None, cursor: str | None
) -> SessionPage:
    try:
        return session_page(request.source.reads, which, limit=limit, offset=offset, cursor=cursor)
    except StoreWriteError as error:
        if cursor is None or error.upstream_status != HTTPStatus.BAD_REQUEST:
            raise
        # All else was checked before.
        message = "cursor is not one that this list gave"
        raise ValidationError(message, [Problem("$.cursor", "format")]) from error


def _filters(query: Query) -> SessionFilters:
    words = query.text("q", longest=_LONGEST_SEARCH)
    if words is not None and not words.strip():
        message = "q must not be white space alone"
        raise ValidationError(message, [Problem("$.q", "pattern")])
    return {
        "user_id": query.text("user_id"),
        "agent_id": query.text("agent_id"),
        "tag": query.text("tag"),
        "q": words,
        "since": query.instant("from"),
        "until": query.instant("to"),
    }


def _shown(row: SessionRow) -> dict[str, Any]:
    shown: dict[str, Any] = {"session_id": row.session_id}
    if row.native_session_id is not None:
        shown["native_session_id"] = row.native_session_id
    return shown | {
        "query": row.first_user_content,
        "created_at": row.created_at,
        "last_activity": row.last_activity,
        "message_count": row.turn_count,
        "agents_used": list(row.agents),
    }
