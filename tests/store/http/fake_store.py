"""A store in a list, for tests of the surface: every port method answers, is recorded, and can be made to fail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from agent.core.receipt import TurnCounts
from agent.core.timestamps import utc_text
from store.errors import NotFound
from store.log.identifiers import lowered
from store.port import (
    DEFAULT_LIMIT,
    DEFAULT_TENANT,
    Actor,
    Appended,
    Erased,
    EventPage,
    EventsQuery,
    SessionPage,
    SessionsCursor,
    SessionsQuery,
    Stats,
    Submission,
    TurnsQuery,
)

AT = "2026-05-04T07:30:05.123456Z"


@dataclass(frozen=True)
class Call:
    """What one method was called with."""

    method: str
    argument: Any
    tenant: str
    timeout_s: float | None


@dataclass(frozen=True)
class _Kept:
    submission: Submission
    appended: Appended
    tenant: str


@dataclass
class FakeStore:
    """Events are kept as they came, in order; sessions and turns are what a test puts there.

    ``faults`` are raised by the method of that name. ``users`` are those that have something to export. ``breaks_off``
    is raised by an export after its first piece.
    """

    kind: str = "fake"
    calls: list[Call] = field(default_factory=list)
    faults: dict[str, Exception] = field(default_factory=dict)
    session_rows: list[dict[str, Any]] = field(default_factory=list)
    turn_rows: dict[bytes, list[dict[str, Any]]] = field(default_factory=dict)
    users: set[str] = field(default_factory=set)
    audit_rows: list[dict[str, Any]] = field(default_factory=list)
    breaks_off: Exception | None = None
    exports_closed: int = 0
    closed: int = 0
    _kept: list[_Kept] = field(default_factory=list)

    def _called(self, method: str, argument: Any, tenant: str, timeout_s: float | None) -> None:
        self.calls.append(Call(method, argument, tenant, timeout_s))
        if method in self.faults:
            raise self.faults[method]

    def append(
        self, submission: Submission, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> Appended:
        self._called("append", submission, tenant, timeout_s)
        ref = submission.envelope.execution_ref
        for kept in self._kept:
            if (kept.tenant, kept.appended.execution_ref) == (tenant, ref):
                first = kept.appended
                return Appended(
                    True, first.event_id, ref, first.timestamp, first.position, TurnCounts(0, first.turns.new, 0, 0)
                )
        new = 0 if submission.capture is None else len(submission.capture.turns)
        position = 1 + sum(kept.tenant == tenant for kept in self._kept)
        timestamp = submission.envelope.timestamp
        appended = Appended(False, submission.event_id, ref, timestamp, position, TurnCounts(new, 0, 0, 0))
        self._kept.append(_Kept(submission, appended, tenant))
        return appended

    def event(self, execution_ref: str, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None) -> bytes:
        self._called("event", execution_ref, tenant, timeout_s)
        for kept in self._kept:
            if (kept.tenant, kept.appended.execution_ref) == (tenant, lowered(execution_ref)):
                return _text(kept)
        raise NotFound("no event has this execution_ref")

    def events(self, query: EventsQuery, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None) -> EventPage:
        self._called("events", query, tenant, timeout_s)
        found = [kept for kept in self._kept if kept.tenant == tenant and _fits(kept, query)]
        page = found[::-1] if query.descending else found
        last = page[query.limit - 1].appended.position if len(page) > query.limit else None
        return EventPage(tuple(_text(kept) for kept in page[: query.limit]), last)

    def sessions(
        self, query: SessionsQuery, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> SessionPage:
        self._called("sessions", query, tenant, timeout_s)
        start = query.offset if query.after is None else query.after.session_key
        rows = self.session_rows[start : start + query.limit]
        follows = start + query.limit < len(self.session_rows)
        last = SessionsCursor(7, -1_000_000 * start, start + query.limit) if follows else None
        total = len(self.session_rows) if query.total else None
        return SessionPage(tuple(orjson.dumps(row) for row in rows), last, total)

    def session(self, session_id: bytes, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None) -> bytes:
        self._called("session", session_id, tenant, timeout_s)
        for row in self.session_rows:
            if bytes.fromhex(row["session_id"].replace("-", "")) == session_id:
                return orjson.dumps(row)
        raise NotFound("no session has this id")

    def turns(
        self, query: TurnsQuery, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> tuple[bytes, ...]:
        self._called("turns", query, tenant, timeout_s)
        if query.session_id not in self.turn_rows:
            raise NotFound("no session has this id")
        rows = [row for row in self.turn_rows[query.session_id] if row["seq"] > (query.after_seq or 0)]
        return tuple(orjson.dumps(row) for row in rows[: query.limit])

    def stats(self, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None) -> Stats:
        self._called("stats", None, tenant, timeout_s)
        events = sum(kept.tenant == tenant for kept in self._kept)
        return Stats(len(self.session_rows), sum(map(len, self.turn_rows.values())), events, 100 * events)

    def erase_session(
        self, session_id: bytes, actor: Actor, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> Erased:
        self._called("erase_session", (session_id, actor), tenant, timeout_s)
        if session_id not in self.turn_rows:
            raise NotFound("no session has this id")
        return Erased("session", 9, 1, 2, 1, utc_text(actor.at), actor.key_name, "rewritten")

    def erase_turn(
        self, turn_id: bytes, actor: Actor, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> Erased:
        self._called("erase_turn", (turn_id, actor), tenant, timeout_s)
        ids = [row["turn_id"] for rows in self.turn_rows.values() for row in rows]
        if turn_id.hex() not in [one.replace("-", "") for one in ids]:
            raise NotFound("no turn has this id")
        return Erased("turn", 9, 1, 1, 1, utc_text(actor.at), actor.key_name, "pending")

    def erase_user(
        self, user_id: str, actor: Actor, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> Erased:
        self._called("erase_user", (user_id, actor), tenant, timeout_s)
        if user_id not in self.users:
            raise NotFound("no user has this id")
        return Erased("user", 9, 1, 2, 1, utc_text(actor.at), actor.key_name, "rewritten")

    def export_user(
        self, user_id: str, actor: Actor, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> Iterator[bytes]:
        # A generator: nothing of it runs before the first piece is asked for.
        self._called("export_user", (user_id, actor), tenant, timeout_s)
        if user_id not in self.users:
            raise NotFound("no user has this id")
        try:
            yield b'{"user_id":%b,"exported_at":"%b"' % (orjson.dumps(user_id), utc_text(actor.at).encode())
            if self.breaks_off is not None:
                raise self.breaks_off
            yield b',"events":[],"turns":[],"sessions":['
            yield b"]}"
        finally:
            self.exports_closed += 1

    def audit(
        self,
        *,
        after: int = 0,
        limit: int = DEFAULT_LIMIT,
        tenant: str = DEFAULT_TENANT,
        timeout_s: float | None = None,
    ) -> tuple[tuple[bytes, ...], int | None]:
        self._called("audit", (after, limit), tenant, timeout_s)
        rows = self.audit_rows[after : after + limit]
        follows = after + limit < len(self.audit_rows)
        return tuple(orjson.dumps(row) for row in rows), after + limit if follows else None

    def record(
        self, action: str, subject: str, actor: Actor, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> None:
        self._called("record", (action, subject, actor), tenant, timeout_s)

    def ping(self, *, timeout_s: float | None = None) -> None:
        self._called("ping", None, DEFAULT_TENANT, timeout_s)

    def close(self) -> None:
        self.closed += 1


def _text(kept: _Kept) -> bytes:
    return kept.submission.envelope.text[:-1] + b',"position":%d}' % kept.appended.position


def _fits(kept: _Kept, query: EventsQuery) -> bool:
    envelope, position = kept.submission.envelope, kept.appended.position
    if query.after is not None and not (position < query.after if query.descending else position > query.after):
        return False
    wanted = (query.session_id, query.conversation_id, query.agent_id, query.decision_type)
    found = (envelope.session_id, envelope.conversation_id, envelope.agent_id, envelope.decision_type)
    return (
        all(want is None or want == have for want, have in zip(wanted, found, strict=True))
        and (query.types is None or envelope.type in query.types)
        and (query.from_us is None or envelope.instant_us >= query.from_us)
        and (query.to_us is None or envelope.instant_us < query.to_us)
    )
