"""One append (CONTRACT 10): the duplicate and 409 rules, then event, session row and turns, in one transaction.

A position is one more than the highest: the transaction began with the write lock, so positions grow in commit order,
and one that was rolled back was never seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from agent.core.canonical import canonical
from agent.core.receipt import TurnCounts
from store.database import Connection
from store.envelope import Envelope, parse_kept, python_numbers
from store.errors import Conflict
from store.event_body import event_text
from store.port import Appended, Submission
from store.turn_rows import SessionRow, append_turns

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_FIRST: Final = "position, event_id, execution_ref, timestamp, inputs_hash, turn_count"
_FIND: Final = f"""
SELECT 'execution_ref', {_FIRST} FROM events WHERE tenant = :tenant AND execution_ref = :execution_ref
UNION ALL
SELECT 'inputs_hash', {_FIRST} FROM events WHERE tenant = :tenant AND inputs_hash = :inputs_hash
    AND agent_id = :agent_id AND decision_type = :decision_type
UNION ALL
SELECT 'Idempotency-Key', {_FIRST} FROM events
    WHERE position = (SELECT position FROM idempotency_keys WHERE tenant = :tenant AND key = :key)
"""  # noqa: S608 - constants only
_INSERT_EVENT: Final = """
INSERT INTO events (position, tenant, event_id, execution_ref, type, agent_id, decision_type, inputs_hash, session_key,
    conversation_id, timestamp, instant_us, received_us, turn_count, turns_bytes, body)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_NO_TURNS: Final = TurnCounts(new=0, known=0, revised=0, erased=0)


@dataclass(frozen=True, slots=True)
class _First:
    """An event that is stored already, and what this one shares with it."""

    shared: str
    position: int
    event_id: str
    execution_ref: str
    timestamp: str
    inputs_hash: str | None
    turn_count: int


def append(connection: Connection, tenant: str, submission: Submission) -> Appended:
    """Append ``submission``, or find that it is there. Raises Conflict."""
    first = _find_first(connection, tenant, submission)
    if first is not None:
        _bind_key(connection, tenant, submission.caller_key, first.position)
        return Appended(
            duplicate=True,
            event_id=first.event_id,
            execution_ref=first.execution_ref,
            timestamp=first.timestamp,
            position=first.position,
            turns=TurnCounts(new=0, known=first.turn_count, revised=0, erased=0),
        )
    envelope, capture = submission.envelope, submission.capture
    position: int = connection.execute("SELECT ifnull(max(position), 0) + 1 FROM events").fetchone()[0]
    session_id = envelope.session_id if capture is None else capture.session_id
    session = None if session_id is None else _find_session(connection, tenant, session_id, position)
    _insert_event(connection, tenant, position, submission, session)
    _bind_key(connection, tenant, submission.caller_key, position)
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


def _find_first(connection: Connection, tenant: str, submission: Submission) -> _First | None:
    envelope = submission.envelope
    rows = connection.execute(
        _FIND,
        {
            "tenant": tenant,
            "execution_ref": envelope.execution_ref,
            "inputs_hash": envelope.inputs_hash,
            "agent_id": envelope.agent_id,
            "decision_type": envelope.decision_type,
            "key": submission.caller_key,
        },
    )
    found = [_First(*row) for row in rows.fetchall()]
    for event in found:
        if event.shared != "inputs_hash" and not _same_body(connection, event, envelope):
            raise Conflict(f"this {event.shared} came before, with another body")
    return min(found, key=lambda event: event.position, default=None)


def _same_body(connection: Connection, event: _First, envelope: Envelope) -> bool:
    if event.inputs_hash is not None and envelope.inputs_hash is not None:
        return event.inputs_hash == envelope.inputs_hash
    kept, turns_bytes = connection.execute(
        "SELECT body, turns_bytes FROM events WHERE position = ?", (event.position,)
    ).fetchone()
    payload = parse_kept(event_text(kept, turns_bytes, event.position))["payload"]
    return canonical(payload) == canonical(python_numbers(envelope.payload))


def _bind_key(connection: Connection, tenant: str, key: str | None, position: int) -> None:
    if key is not None:
        connection.execute(
            "INSERT OR IGNORE INTO idempotency_keys (tenant, key, position) VALUES (?, ?, ?)", (tenant, key, position)
        )


def _find_session(connection: Connection, tenant: str, session_id: bytes, position: int) -> SessionRow:
    row = connection.execute(
        "SELECT session_key, last_seq FROM sessions WHERE session_id = ? AND tenant = ?", (session_id, tenant)
    ).fetchone()
    if row is None:
        return SessionRow(session_id, position, 0, is_new=True)
    key, last_seq = row
    return SessionRow(session_id, key, last_seq, is_new=False)


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
