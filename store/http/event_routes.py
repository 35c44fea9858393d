"""Events over HTTP (CONTRACT 10): the write with its aliases, one event, lists of them, and the feed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from http import HTTPStatus
from typing import Final

from store.errors import DamagedEvent, Forbidden
from store.http.answer import Answer, answer, page
from store.http.cursor import binding, read_cursor, write_cursor
from store.http.edge import Metrics
from store.http.query_values import Query, choice, identifier, instant_us, is_digits, names, page_limit, whole_number
from store.http.request import Request
from store.http.routing import Endpoint, Route
from store.log.capture import read_capture
from store.log.envelope import parse_kept, read_envelope
from store.port import Appended, EventPage, EventsQuery, Store, Submission

_EVENTS: Final = "/v1/decision-events"
_FEED: Final = "/events/decisions"
_ALIAS: Final = "/api/v1/decision-events"


class EventRoutes:
    """``clock`` gives aware datetimes, ``new_id`` a fresh event id; ``monotonic`` is asked only for ``metrics``."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        metrics: Metrics | None,
        monotonic: Callable[[], float],
    ) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._metrics = metrics
        self._monotonic = monotonic

    def routes(self) -> tuple[Route, ...]:
        write = Endpoint("write", self._append)
        return (
            Route(_EVENTS, {"GET": Endpoint("read", self._events), "POST": write}),
            Route(_FEED, {"GET": Endpoint("read", self._feed), "POST": write}),
            Route(_ALIAS, {"POST": write}),
            Route(_EVENTS + "/{execution_ref}", {"GET": Endpoint("read", self._event)}, any_text=True),
        )

    def _append(self, request: Request) -> Answer:
        request.query()
        envelope = read_envelope(request.body())
        if envelope.erased and not request.caller.may("admin"):
            # What it names is remembered as erased (CONTRACT 10a), which is not a writer's to say.
            raise Forbidden("an event that another store erased is taken from an admin key alone")
        submission = Submission(
            envelope=envelope,
            capture=read_capture(envelope),
            caller_key=request.caller_key(envelope.inputs_hash),
            event_id=self._new_id(),
            received_at=self._clock(),
        )
        appended = self._appended(submission, request)
        receipt = {
            "status": "duplicate" if appended.duplicate else "accepted",
            "eventId": appended.event_id,
            "executionRef": appended.execution_ref,
            "timestamp": appended.timestamp,
            "position": appended.position,
            "turns": appended.turns.as_dict(),
            **({"kept_fuller": appended.kept_fuller} if appended.kept_fuller else {}),
        }
        return answer(receipt, HTTPStatus.OK if appended.duplicate else HTTPStatus.CREATED)

    def _appended(self, submission: Submission, request: Request) -> Appended:
        metrics = self._metrics
        if metrics is None:
            return self._store.append(submission, tenant=request.tenant, timeout_s=request.timeout_s)
        started = self._monotonic()
        appended = self._store.append(submission, tenant=request.tenant, timeout_s=request.timeout_s)
        metrics.appended(appended.duplicate, self._monotonic() - started)
        return appended

    def _event(self, request: Request) -> Answer:
        request.query()
        event = self._store.event(request.variable, tenant=request.tenant, timeout_s=request.timeout_s)
        return Answer(HTTPStatus.OK, event)

    def _events(self, request: Request) -> Answer:
        query = request.query(
            "session_id", "conversation_id", "agent_id", "decision_type", "from", "to", "limit", "cursor", "order"
        )
        descending = choice(query, "order", "asc", "desc")
        session_id, conversation_id = identifier(query, "session_id"), identifier(query, "conversation_id")
        agent_id, decision_type = query.get("agent_id"), query.get("decision_type")
        from_us, to_us = instant_us(query, "from"), instant_us(query, "to")
        bound = binding("events", descending, session_id, conversation_id, agent_id, decision_type, from_us, to_us)
        cursor = query.get("cursor")
        wanted = EventsQuery(
            session_id=session_id,
            conversation_id=conversation_id,
            agent_id=agent_id,
            decision_type=decision_type,
            from_us=from_us,
            to_us=to_us,
            limit=page_limit(query),
            after=None if cursor is None else read_cursor(cursor, bound),
            descending=descending,
        )
        found = self._page(wanted, request, bound)
        next_cursor = None if found.last is None else write_cursor(found.last, bound)
        return page("events", found.events, next_cursor=next_cursor)

    def _feed(self, request: Request) -> Answer:
        query = request.query("types", "after", "limit")
        types = names(query, "types")
        bound = binding("feed", *sorted(types or ()))
        after = _after(query, bound)
        wanted = EventsQuery(types=types, limit=page_limit(query), after=after)
        found = self._page(wanted, request, bound)
        place = _place(found, after)
        return page("events", found.events, next_cursor=None if place is None else write_cursor(place, bound))

    def _page(self, wanted: EventsQuery, request: Request, bound: str) -> EventPage:
        """What the store has of ``wanted``. Raises DamagedEvent, which says where the list goes on behind it."""
        try:
            return self._store.events(wanted, tenant=request.tenant, timeout_s=request.timeout_s)
        except DamagedEvent as fault:
            fault.next_cursor = write_cursor(fault.position, bound)
            raise


def _after(query: Query, bound: str) -> int | None:
    """The position to go on from, as a number or a cursor; None for the start."""
    text = query.get("after")
    if text is None or is_digits(text):
        return whole_number(query, "after")
    return read_cursor(text, bound, name="after")


def _place(found: EventPage, after: int | None) -> int | None:
    """Where a follower goes on, also where nothing follows yet: it keeps its place at the end of the log."""
    if found.last is not None:
        return found.last
    if not found.events:
        return after
    position: int = parse_kept(found.events[-1])["position"]
    return position
