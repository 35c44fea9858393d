"""What the store can be asked for (CONTRACT 10), each answer as a model of ``models``, and the feed as raw envelopes.

A read is repeated as the client's retry rules say. It raises StoreNotFound for what is not there, StoreConnectionError
and RateLimitExceeded when the retries are spent, and StoreWriteError for an answer that is not what was asked for.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final, TypedDict, TypeVar, Unpack
from urllib.parse import quote

import jiter

from agent.errors import StoreNotFound
from agent.ruvector.client import AnswerTooLong, Query
from agent.ruvector.feed import (
    FEED_PATH,
    Asked,
    FedEvent,
    FeedPage,
    ask_page,
    read_event,
    read_events,
    read_feed,
)
from agent.ruvector.models import (
    AuditPage,
    EventEnvelope,
    EventPage,
    SessionPage,
    SessionRow,
    StoreModel,
    StoreStats,
    TurnPage,
)
from agent.ruvector.parsed import ParsedPage
from agent.ruvector.turn_rows import TurnRows, read_turn_rows

T = TypeVar("T")
Model = TypeVar("Model", bound=StoreModel)

_EVENTS: Final = "/v1/decision-events"


class EventFilters(TypedDict, total=False):
    """Which events: ``since`` inclusive, ``until`` exclusive, RFC 3339 instants of capture; ``order`` asc or desc."""

    session_id: str | None
    conversation_id: str | None
    agent_id: str | None
    decision_type: str | None
    since: str | None
    until: str | None
    order: str | None


class TurnFilters(TypedDict, total=False):
    """Which turns of a session, in their latest revisions."""

    conversation_id: str | None
    before_seq: int | None
    at_seq: int | None
    changed_after: int | None
    last: int | None


class SessionFilters(TypedDict, total=False):
    """Which sessions: ``q`` are words of their content, ``since`` and ``until`` bound the last activity."""

    user_id: str | None
    agent_id: str | None
    tag: str | None
    conversation_id: str | None
    q: str | None
    since: str | None
    until: str | None


class StoreReads:
    """The reads of one store; ``asked`` is its client."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def event(self, execution_ref: str) -> EventEnvelope:
        """The event of one invocation, with its position."""
        return self._read(EventEnvelope, f"{_EVENTS}/{segment(execution_ref)}", {})

    def events(self, *, limit: int = 100, cursor: str | None = None, **which: Unpack[EventFilters]) -> EventPage:
        """One page of events, in ascending order unless asked; ``cursor`` is the last page's next_cursor."""
        return self._read(EventPage, _EVENTS, {**_named(which), "limit": limit, "cursor": cursor})

    def raw_event(self, execution_ref: str, *, shown: bool = True) -> FedEvent:
        """As ``event``, the envelope as it came; ``shown`` as ``feed`` has it."""
        read = partial(_read_named, shown=shown)
        try:
            return self._asked.ask("GET", f"{_EVENTS}/{segment(execution_ref)}", {}, read)
        except AnswerTooLong as error:
            raise error.refused from None

    def raw_events(
        self, *, limit: int = 100, cursor: str | None = None, shown: bool = True, **which: Unpack[EventFilters]
    ) -> FeedPage:
        """As ``events``, each envelope as it came; fewer than ``limit`` where that many are too long to receive.

        ``shown`` as ``feed`` has it.
        """
        return read_events(self._asked, _EVENTS, {**_named(which), "cursor": cursor}, limit, shown=shown)

    def parsed_events(
        self, *, limit: int = 100, cursor: str | None = None, **which: Unpack[EventFilters]
    ) -> ParsedPage:
        """As ``raw_events``, for who looks at the events and moves none: each is parsed, and its bytes are gone."""
        return ask_page(self._asked, _EVENTS, {**_named(which), "cursor": cursor}, limit, ParsedPage)

    def parsed_feed(self, after: str | None = None, *, limit: int = 100) -> ParsedPage:
        """As ``feed`` of all types, by the same rule."""
        return ask_page(self._asked, FEED_PATH, {"after": after}, limit, ParsedPage)

    def feed(
        self, after: str | None = None, *, limit: int = 100, types: tuple[str, ...] = (), shown: bool = False
    ) -> FeedPage:
        """One page of the feed beyond the cursor ``after``, of these types or all, each envelope as it came.

        ``shown``: the envelopes are printed, so a page with one that is no JSON object is refused.
        """
        return read_feed(self._asked, after, limit, types, shown=shown)

    def sessions(
        self,
        *,
        limit: int = 100,
        cursor: str | None = None,
        offset: int | None = None,
        total: bool = False,
        **which: Unpack[SessionFilters],
    ) -> SessionPage:
        """One page of sessions, newest activity first; ``total`` asks how many there are in all.

        Fewer than ``limit`` where that many are too long to receive: a session may have any number of names.
        """
        page = {"cursor": cursor, "offset": offset, "total": "true" if total else None}
        return ask_page(self._asked, "/v1/sessions", {**_named(which), **page}, limit, _session_page)

    def session(self, session_id: str) -> SessionRow:
        """The row of one session."""
        return self._read(SessionRow, f"/v1/sessions/{segment(session_id)}", {})

    def turns(self, session_id: str, *, after_seq: int = 0, limit: int = 100, **which: Unpack[TurnFilters]) -> TurnPage:
        """The turns of a session with ``seq`` above ``after_seq``, at most ``limit`` (1..1000)."""
        query = {**_named(which), "after_seq": after_seq, "limit": limit}
        return self._read(TurnPage, f"/v1/sessions/{segment(session_id)}/turns", query)

    def turn_rows(
        self, session_id: str, *, after_seq: int = 0, limit: int = 1000, **which: Unpack[TurnFilters]
    ) -> TurnRows:
        """As ``turns``, for who folds them; fewer than ``limit`` where that many are too long to receive.

        Raises NewerContract for a turn of an event that this release cannot read.
        """
        query = {**_named(which), "after_seq": after_seq}
        return ask_page(self._asked, f"/v1/sessions/{segment(session_id)}/turns", query, limit, read_turn_rows)

    def stats(self) -> StoreStats:
        """What this key's tenant has in the store."""
        return self._read(StoreStats, "/v1/stats", {})

    def audit(self, *, after: int = 0, limit: int = 100) -> AuditPage:
        """Who erased, exported or administered what, oldest first; ``after`` is the last page's next_after."""
        return self._read(AuditPage, "/v1/audit", {"after": after, "limit": limit})

    def _read(self, model: type[Model], path: str, query: Query) -> Model:
        return asked_for(self._asked, "GET", model, path, query)


def asked_for(asked: Asked, method: str, model: type[Model], path: str, query: Query) -> Model:
    """The answer of the store as ``model``."""
    try:
        return asked.ask(method, path, query, lambda body: model.model_validate(_parsed(body)))
    except AnswerTooLong as error:
        raise error.refused from None


def segment(text: str) -> str:
    """``text`` as one segment of a path: quoted whole, so that it can name no other path."""
    if text in ("", ".", ".."):
        raise StoreNotFound("the store has no such record")
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        # Half a surrogate pair: no address holds it, so nothing is there.
        raise StoreNotFound("the store has no such record") from None


def _session_page(body: bytes, *, limit: int) -> SessionPage:  # noqa: ARG001 - how many were asked for says nothing of a page with a cursor
    return SessionPage.model_validate(_parsed(body))


def _read_named(body: bytes, *, shown: bool) -> FedEvent:
    """The event in an answer. Raises ValueError for what is shown and has no name: it is not what was asked for."""
    event = read_event(body, shown=shown)
    if shown and event.execution_ref is None:
        raise ValueError("no event")
    return event


def _parsed(body: bytes) -> Any:
    return jiter.from_json(body, allow_inf_nan=False)


def _named(which: Any) -> dict[str, Any]:
    """The filters by the names of the contract: ``from`` is a word of Python."""
    names = {"since": "from", "until": "to"}
    return {names.get(name, name): value for name, value in which.items()}
