"""Appends (CONTRACT 10): the duplicate and 409 rules, then event, session row and turns, in one transaction.

Several submissions share a transaction where they came together and have nothing in common (store.log.group_commit):
then what one finds is what the others left alone, and a disk flush and a round trip serve all of them.

A position is one more than the tenant's highest, of events and erasures: the transaction holds the lock of appends
until it is committed, so positions grow in commit order, and one that was rolled back was never seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from agent.core.agent_identity import AGENT_ID
from agent.core.decision import DECISION_TYPE
from agent.core.receipt import TurnCounts
from store.engines.engine import Connection
from store.engines.schema import MAX_POSITION, event_key, position_of
from store.errors import StoreAnswerError
from store.lists import labels
from store.log.capture import SentCapture
from store.log.duplicate import find_duplicate
from store.log.event_body import Rest, lay_out, rest_of
from store.log.event_keys import EventKeys
from store.log.record import Chunks
from store.log.session_row import COLUMNS as SESSION_COLUMNS
from store.log.session_row import INSERTED as SESSION_INSERTED
from store.log.session_row import SessionRow, read_row
from store.log.session_rows import DatabaseSession, batches
from store.log.turn_rows import COLUMNS as TURN_COLUMNS
from store.log.turn_rows import (
    AppendedTo,
    TurnWrites,
    connect,
    plan_writes,
    revise,
    widen,
    with_new_turns,
    with_revisions,
)
from store.log.turns import Placement, place
from store.port import Appended, Submission

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)

# Where the tenant's log ends, the highest session, and whether anything was ever erased.
_STATE: Final = """
SELECT (SELECT max(event_key) FROM events WHERE event_key BETWEEN ? AND ?),
    (SELECT max(erasure_key) FROM erasures WHERE erasure_key BETWEEN ? AND ?),
    (SELECT max(session_key) FROM sessions),
    EXISTS (SELECT 1 FROM tombstones)
"""
_EVENT_COLUMNS: Final = (
    *("event_key", "tenant", "event_id", "execution_ref", "type", "agent_id", "decision_type", "inputs_hash", "ours"),
    *("session_key", "conversation_id", "user_digest", "timestamp", "instant_us", "received_us", "turn_count"),
    *("agent_version", "erased", "layout", "body"),
)
_KEY_COLUMNS: Final = ("key", "tenant", "event_key")
_INSERT_KEY: Final = "INSERT INTO event_keys (key, tenant, event_key) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_NO_TURNS: Final = TurnCounts(new=0, known=0, revised=0, erased=0)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A submission with what can be made of it before the transaction."""

    submission: Submission
    rest: Rest
    keys: EventKeys
    session_id: bytes | None

    @classmethod
    def of(cls, tenant_name: str, submission: Submission) -> Prepared:
        """Prepare ``submission``. Raises BadRequest for a number that overflows a double."""
        envelope, capture = submission.envelope, submission.capture
        return cls(
            submission,
            rest_of(envelope, capture),
            EventKeys.of(tenant_name, envelope, submission.caller_key),
            envelope.session_id if capture is None else capture.session_id,
        )

    def meets(self) -> frozenset[bytes]:
        """What no two submissions of one transaction may share: keys and a session."""
        named = self.keys.all()
        return frozenset(named if self.session_id is None else (*named, self.session_id))


def next_position(connection: Connection, tenant: int) -> int:
    """The position that the tenant's next event or erasure takes."""
    return _state(connection, tenant)[0]


def append(connection: Connection, tenant: int, batch: Sequence[Prepared]) -> list[Appended | StoreAnswerError]:
    """Append each of ``batch``, or find that it is there; in its place the error of one that is refused."""
    stored = _stored_keys(connection, batch)
    position, last_session_key, has_erased = _state(connection, tenant)
    sessions = _sessions(connection, tenant, batch)
    writer = _Writer(connection, tenant, has_erased=has_erased)
    answers: list[Appended | StoreAnswerError] = []
    for prepared in batch:
        if any(key in stored for key in prepared.keys.all()):
            answers.append(_duplicate(connection, tenant, prepared))
            continue
        row = None
        if prepared.session_id is not None:
            row = sessions.get(prepared.session_id)
            if row is None:
                last_session_key += 1
                row = SessionRow(last_session_key, prepared.session_id, is_new=True)
        answers.append(writer.add(position, prepared, row))
        position += 1
    writer.write()
    return answers


def _state(connection: Connection, tenant: int) -> tuple[int, int, bool]:
    span = (event_key(tenant, 0), event_key(tenant, MAX_POSITION))
    last_event, last_erasure, last_session, has_erased = connection.execute(_STATE, span + span).fetchone()
    last = max(position_of(last_event or 0), position_of(last_erasure or 0))
    if last >= MAX_POSITION:
        raise StoreAnswerError("the log of this tenant is full")
    return last + 1, last_session or 0, bool(has_erased)


def _stored_keys(connection: Connection, batch: Sequence[Prepared]) -> set[bytes]:
    keys = [key for prepared in batch for key in prepared.keys.all()]
    stored: set[bytes] = set()
    for marks, some in batches(keys):
        sql = f"SELECT key FROM event_keys WHERE key IN ({marks})"  # noqa: S608 - marks only
        stored.update(row[0] for row in connection.execute(sql, some))
    return stored


def _sessions(connection: Connection, tenant: int, batch: Sequence[Prepared]) -> dict[bytes, SessionRow]:
    ids = [prepared.session_id for prepared in batch if prepared.session_id is not None]
    found: dict[bytes, SessionRow] = {}
    for marks, some in batches(ids):
        sql = f"SELECT {SESSION_COLUMNS} FROM sessions WHERE session_id IN ({marks}) AND tenant = ?"  # noqa: S608 - constants and marks only
        rows = (read_row(row) for row in connection.execute(sql, (*some, tenant)))
        found.update({row.session_id: row for row in rows})
    return found


def _duplicate(connection: Connection, tenant: int, prepared: Prepared) -> Appended | StoreAnswerError:
    try:
        found = find_duplicate(connection, tenant, prepared.keys, prepared.submission.envelope)
    except StoreAnswerError as error:
        return error
    if prepared.keys.caller is not None:
        connection.execute(_INSERT_KEY, (prepared.keys.caller, tenant, event_key(tenant, found.position)))
    return found


@dataclass(slots=True)
class _Writer:
    """Gathers the rows of a batch, so that each table takes one statement."""

    connection: Connection
    tenant: int
    has_erased: bool
    events: list[tuple[Any, ...]] = field(default_factory=list)
    keys: list[tuple[Any, ...]] = field(default_factory=list)
    turns: list[tuple[Any, ...]] = field(default_factory=list)
    after: list[_After] = field(default_factory=list)

    def add(self, position: int, prepared: Prepared, session: SessionRow | None) -> Appended:
        submission = prepared.submission
        envelope, capture = submission.envelope, submission.capture
        writes, counts, placement = TurnWrites(), _NO_TURNS, Placement()
        if session is not None:
            if capture is None:
                row = session
            else:
                at = AppendedTo(self.tenant, session.key, position)
                placement = self._place(prepared, session)
                writes = plan_writes(placement, capture, at)
                counts = TurnCounts(
                    new=sum(not placed.erased for placed in placement.new.values()),
                    known=placement.known,
                    revised=len(placement.revised),
                    erased=placement.erased,
                )
                row = with_new_turns(
                    session.with_capture(capture, envelope.instant_us, erased=writes.erased),
                    placement,
                    writes.rows,
                    position,
                )
                self.turns += writes.rows
            self.after.append(_After(position, prepared, session, row, placement, writes))
        self._add_event(position, prepared, session, writes)
        return Appended(
            duplicate=False,
            event_id=submission.event_id,
            execution_ref=envelope.execution_ref,
            timestamp=envelope.timestamp,
            position=position,
            turns=counts,
            kept_fuller=placement.kept_fuller,
        )

    def write(self) -> None:
        if not self.events:
            return
        insert_new = self.connection.insert_new
        insert_new("events", _EVENT_COLUMNS, self.events)
        # Sorted: neighbours in the index are written together.
        insert_new("event_keys", _KEY_COLUMNS, sorted(self.keys))
        if self.turns:
            insert_new("turns", TURN_COLUMNS, self.turns)
        rows = [after.write(self.connection, self.tenant) for after in self.after]
        new = [(self.tenant, *row.values()) for row in rows if row is not None]
        if new:
            insert_new("sessions", SESSION_INSERTED, new)

    def _place(self, prepared: Prepared, session: SessionRow) -> Placement:
        capture = prepared.submission.capture
        assert capture is not None  # noqa: S101 - the caller looked
        wanted = dict.fromkeys(turn.turn_id for turn in capture.turns)
        wanted.update(dict.fromkeys(turn.parent for turn in capture.turns if turn.parent is not None))
        rows = DatabaseSession(
            self.connection,
            None if session.last_seq == 0 else session.key,
            list(wanted),
            tombstones_of=self.tenant if self.has_erased else None,
        )
        placement = place(
            rows,
            capture.turns,
            conversation_id=capture.conversation_id,
            narrowness=capture.narrowness,
            last_seq=session.last_seq,
        )
        if placement.alike:
            self._compare(capture, placement)
        return placement

    def _compare(self, capture: SentCapture, placement: Placement) -> None:
        """Find the turns that are there byte for byte: a client that writes ids in upper case sends them so again."""
        chunks = Chunks(self.connection, self.tenant)
        for turn in capture.turns:
            stored = placement.alike.get(turn.turn_id)
            if stored is None:
                continue
            if chunks.whole(stored.revision_position, stored.own_index) == b"".join(turn.text()):
                placement.same[turn.turn_id] = stored

    def _add_event(self, position: int, prepared: Prepared, session: SessionRow | None, writes: TurnWrites) -> None:
        submission = prepared.submission
        envelope, capture = submission.envelope, submission.capture
        rest = rest_of(envelope, capture, erased=writes.erased) if writes.erased else prepared.rest
        body = lay_out(rest, writes.own, writes.turns)
        key = event_key(self.tenant, position)
        ours = envelope.type == envelope.decision_type == DECISION_TYPE and envelope.agent_id == AGENT_ID
        self.events.append(
            (
                key,
                self.tenant,
                submission.event_id.encode(),
                envelope.execution_ref.encode(),
                envelope.type.encode(),
                _bytes(envelope.agent_id),
                _bytes(envelope.decision_type),
                _bytes(envelope.inputs_hash),
                int(ours),
                None if session is None else session.key,
                envelope.conversation_id,
                None if envelope.user_id is None else labels.digest(envelope.user_id),
                envelope.timestamp.encode(),
                envelope.instant_us,
                (submission.received_at - _EPOCH) // _MICROSECOND,
                0 if capture is None else len(capture.turns),
                None if capture is None else _bytes(envelope.other_version),
                int(envelope.erased or bool(writes.erased)),
                body.layout.pack(),
                body.kept,
            )
        )
        self.keys += [(digest, self.tenant, key) for digest in prepared.keys.all()]


@dataclass(frozen=True, slots=True)
class _After:
    """What an append changes beside the rows that it adds; written when those are there."""

    position: int
    prepared: Prepared
    before: SessionRow
    row: SessionRow
    placement: Placement
    writes: TurnWrites

    def write(self, connection: Connection, tenant: int) -> SessionRow | None:
        """The session's row, where it is still to be inserted."""
        capture, row = self.prepared.submission.capture, self.row
        if capture is not None:
            at = AppendedTo(tenant, row.key, self.position)
            connect(connection, at, capture.conversation_id, self.placement)
            widen(connection, at, capture.narrowness, self.placement)
            if self.writes.revisions:
                revised = revise(connection, at, capture.narrowness, self.writes)
                row = with_revisions(connection, row, revised, self.position)
        if self.before.is_new:
            return row
        if row != self.before:
            row.update(connection)
        return None


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
