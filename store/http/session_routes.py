"""Sessions and their turns over HTTP (CONTRACT 10): lists, one session, its turns, and how much there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from http import HTTPStatus
from typing import Final

from store.errors import BadRequest, NotFound
from store.http.answer import Answer, answer, page
from store.http.cursor import binding, read_sessions_cursor, write_sessions_cursor
from store.http.query_values import Query, choice, identifier, instant_us, page_limit, search_words, whole_number
from store.http.request import Request
from store.http.routing import Endpoint, Route
from store.log.identifiers import packed, unpacked
from store.port import SessionsQuery, Store, TurnsQuery

_SESSIONS: Final = "/v1/sessions"
_SESSION: Final = "/v1/sessions/{session_id}"
_FILTERS: Final = ("user_id", "agent_id", "tag", "conversation_id", "q", "from", "to")
_TURN_BOUNDS: Final = ("after_seq", "before_seq", "at_seq", "changed_after")


class SessionRoutes:
    """What is read of sessions."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def routes(self) -> tuple[Route, ...]:
        return (
            Route(_SESSIONS, {"GET": Endpoint("read", self._sessions)}),
            Route(_SESSION, {"GET": Endpoint("read", self._session)}),
            Route(_SESSION + "/turns", {"GET": Endpoint("read", self._turns)}),
            Route("/v1/stats", {"GET": Endpoint("read", self._stats)}),
        )

    def _sessions(self, request: Request) -> Answer:
        query = request.query(*_FILTERS, "limit", "cursor", "offset", "total")
        wanted, bound = _wanted(query)
        found = self._store.sessions(wanted, tenant=request.tenant, timeout_s=request.timeout_s)
        next_cursor = None if found.last is None else write_sessions_cursor(found.last, bound)
        total = {} if found.total is None else {"total": found.total}
        return page("sessions", found.sessions, next_cursor=next_cursor, **total)

    def _session(self, request: Request) -> Answer:
        request.query()
        session = self._store.session(_session_id(request), tenant=request.tenant, timeout_s=request.timeout_s)
        return Answer(HTTPStatus.OK, session)

    def _turns(self, request: Request) -> Answer:
        query = request.query("conversation_id", *_TURN_BOUNDS, "last", "limit")
        last = None if "last" not in query else page_limit(query, "last")
        limit = page_limit(query) if last is None else page_limit(query, default=last)
        conversation_id = identifier(query, "conversation_id")
        bounds = {name: whole_number(query, name) for name in _TURN_BOUNDS}
        session_id = _session_id(request)
        wanted = TurnsQuery(session_id, limit=limit, last=last, conversation_id=conversation_id, **bounds)
        records = self._store.turns(wanted, tenant=request.tenant, timeout_s=request.timeout_s)
        return Answer(HTTPStatus.OK, _turns_text(session_id, records))

    def _stats(self, request: Request) -> Answer:
        request.query()
        return answer(asdict(self._store.stats(tenant=request.tenant, timeout_s=request.timeout_s)))


def _turns_text(session_id: bytes, records: Sequence[bytes]) -> bytes:
    head = b'{"session_id":"%b","turns":[' % unpacked(session_id).encode()
    if not records:
        return head + b"]}"
    # Joined once: a page may be long, and every copy of it costs.
    pieces = list(records)
    pieces[0] = head + pieces[0]
    pieces[-1] += b"]}"
    return b",".join(pieces)


def _session_id(request: Request) -> bytes:
    session_id = packed(request.variable)
    if session_id is None:
        raise NotFound("no session has this id")
    return session_id


def _wanted(query: Query) -> tuple[SessionsQuery, str]:
    """What ``query`` asks for, and what its cursors are bound to: the filters, not the size of a page."""
    cursor, offset = query.get("cursor"), whole_number(query, "offset")
    if cursor is not None and offset is not None:
        raise BadRequest("cursor and offset exclude each other")
    user_id, agent_id, tag = query.get("user_id"), query.get("agent_id"), query.get("tag")
    conversation_id, q = identifier(query, "conversation_id"), search_words(query, "q")
    from_us, to_us = instant_us(query, "from"), instant_us(query, "to")
    bound = binding("sessions", user_id, agent_id, tag, conversation_id, q, from_us, to_us)
    wanted = SessionsQuery(
        user_id=user_id,
        agent_id=agent_id,
        tag=tag,
        conversation_id=conversation_id,
        q=q,
        from_us=from_us,
        to_us=to_us,
        limit=page_limit(query),
        after=None if cursor is None else read_sessions_cursor(cursor, bound),
        offset=offset or 0,
        total=choice(query, "total", "false", "true"),
    )
    return wanted, bound
