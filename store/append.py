"""One append (CONTRACT 10): the duplicate and 409 rules, then event, session row and turns, in one transaction.

A position is one more than the highest: the transaction began with the write lock, so positions grow in commit order,
and one that was rolled back was never seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from agent.core.receipt import TurnCounts
from store.connection import Connection
from store.envelope import Envelope, canonical_sent, parse_kept
from store.errors import Conflict
from store.event_body import event_text
from store.event_keys import caller_key, execution_ref_key, payload_key
from store.port import Appended, Submission
from store.turn_rows import SessionRow, append_turns

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_FIND: Final = """
SELECT key, position, event_id, execution_ref, timestamp, inputs_hash, turn_count
FROM event_keys JOIN events USING (position)
WHERE key IN (?, ?, ?)
"""
# What is there when an event comes: one statement, since each costs about as much as what it looks up.
_LOOK: Final = """
SELECT EXISTS (SELECT 1 FROM event_keys WHERE key = ?)
    OR EXISTS (SELECT 1 FROM event_keys WHERE key = ?)
    OR EXISTS (SELECT 1 FROM event_keys WHERE key = ?),
    ifnull((SELECT max(position) FROM events), 0) + 1, session_key, last_seq
FROM (SELECT 1) LEFT JOIN sessions ON session_id = ? AND tenant = ?
"""
_INSERT_EVENT: Final = """
INSERT INTO events (position, tenant, event_id, execution_ref, type, agent_id, decision_type, inputs_hash, session_key,
    conversation_id, timestamp, instant_us, received_us, turn_count, turns_bytes, body)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_KEY: Final = "INSERT OR IGNORE INTO event_keys (key, tenant, position) VALUES (?, ?, ?)"
_NO_TURNS: Final = TurnCounts(new=0, known=0, revised=0, erased=0)


@dataclass(frozen=True, slots=True)
class _First:
    """An event that is stored already, and the key that this one shares with it."""

    key: bytes
    position: int
    event_id: str
    execution_ref: str
    timestamp: str
    inputs_hash: str | None
    turn_count: int


def append(connection: Connection, tenant: str, submission: Submission) -> Appended:
    """Append ``submission``, or find that it is there. Raises Conflict."""
    keys = _Keys.of(tenant, submission)
    envelope, capture = submission.envelope, submission.capture
    session_id = envelope.session_id if capture is None else capture.session_id
    looked_for = (keys.execution_ref, keys.payload, keys.caller, session_id, tenant)
    found, position, session_key, last_seq = connection.execute(_LOOK, looked_for).fetchone()
    if found:
        return _duplicate(connection, tenant, submission, keys)
    session = None
    if session_id is not None:
        is_new = session_key is None
        session = SessionRow(session_id, position if is_new else session_key, last_seq or 0, is_new=is_new)
    _insert_event(connection, tenant, position, submission, session)
    keys.bind(connection, tenant, position)
    turns = _NO_TURNS
    if capture is not None and session is not None:
        turns = append_turns(connection, tenant, position, session, (capture, submission.body.places))
    elif session is not None and session.is_new:
        session.write(connection, tenant, last_seq=0, version=0)
    return Appended(
        duplicate=False,
        event_id=submission.event_id,
        execution_ref=envelope.execution_ref,
        timestamp=envelope.timestamp,
        position=position,
        turns=turns,
    )


@dataclass(frozen=True, slots=True)
class _Keys:
    """What a submission would be found by; None where it has no such thing."""

    execution_ref: bytes
    payload: bytes | None
    caller: bytes | None

    @classmethod
    def of(cls, tenant: str, submission: Submission) -> _Keys:
        envelope, caller = submission.envelope, submission.caller_key
        agent_id, kind, inputs_hash = envelope.agent_id, envelope.decision_type, envelope.inputs_hash
        identified = agent_id is not None and kind is not None and inputs_hash is not None
        return cls(
            execution_ref_key(tenant, envelope.execution_ref),
            payload_key(tenant, agent_id or "", kind or "", inputs_hash or "") if identified else None,
            None if caller is None else caller_key(tenant, caller),
        )

    def bind(self, connection: Connection, tenant: str, position: int) -> None:
        keys = [key for key in (self.execution_ref, self.payload, self.caller) if key is not None]
        connection.executemany(_INSERT_KEY, [(key, tenant, position) for key in keys])

    def bind_caller(self, connection: Connection, tenant: str, position: int) -> None:
        if self.caller is not None:
            connection.execute(_INSERT_KEY, (self.caller, tenant, position))


def _duplicate(connection: Connection, tenant: str, submission: Submission, keys: _Keys) -> Appended:
    """The first event of this payload or reference. Raises Conflict where it has another body."""
    first = _find_first(connection, keys, submission.envelope)
    keys.bind_caller(connection, tenant, first.position)
    return Appended(
        duplicate=True,
        event_id=first.event_id,
        execution_ref=first.execution_ref,
        timestamp=first.timestamp,
        position=first.position,
        turns=TurnCounts(new=0, known=first.turn_count, revised=0, erased=0),
    )


def _find_first(connection: Connection, keys: _Keys, envelope: Envelope) -> _First:
    rows = connection.execute(_FIND, (keys.execution_ref, keys.payload, keys.caller)).fetchall()
    found = [_First(*row) for row in rows]
    names = {keys.execution_ref: "execution_ref", keys.caller: "Idempotency-Key"}
    for event in found:
        if event.key in names and not _same_body(connection, event, envelope):
            raise Conflict(f"this {names[event.key]} came before, with another body")
    return min(found, key=lambda event: event.position)


def _same_body(connection: Connection, event: _First, envelope: Envelope) -> bool:
    if event.inputs_hash is not None and envelope.inputs_hash is not None:
        return event.inputs_hash == envelope.inputs_hash
    kept, turns_bytes = connection.execute(
        "SELECT body, turns_bytes FROM events WHERE position = ?", (event.position,)
    ).fetchone()
    payload = parse_kept(event_text(kept, turns_bytes, event.position))["payload"]
    return canonical_sent(payload) == canonical_sent(envelope.payload)


def _insert_event(
    connection: Connection, tenant: str, position: int, submission: Submission, session: SessionRow | None
) -> None:
    envelope, capture = submission.envelope, submission.capture
    connection.execute(
        _INSERT_EVENT,
        (
            position,
            tenant,
            submission.event_id,
            envelope.execution_ref,
            envelope.type,
            envelope.agent_id,
            envelope.decision_type,
            envelope.inputs_hash,
            None if session is None else session.key,
            envelope.conversation_id,
            envelope.timestamp,
            envelope.instant_us,
            (submission.received_at - _EPOCH) // timedelta(microseconds=1),
            0 if capture is None else len(capture.turns),
            submission.body.turns_bytes,
            submission.body.kept,
        ),
    )
