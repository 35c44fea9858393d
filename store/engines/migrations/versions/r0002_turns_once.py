"""Turns once in the whole log, sessions to list, tenants by number, erasure: the log of 0.1.0 appended again.

All tables are made from the events, so they are made anew and the events appended in their order, with the ids and
instants that they had. Only SQLite databases are as old as this.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from alembic import context

revision = "0002"
down_revision = "0001"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TABLES = ("events", "event_keys", "sessions", "turns", "awaited_parents", "write_probe")
_INDEXES = ("events_by_session", "turns_by_id", "turns_without_child", "turns_naming_a_leaf")
_LENGTH_BYTES = 4


def upgrade() -> None:
    """Append the events of the old tables to the new ones, then drop the old."""
    # Late: they are the store's own, which the store loads first.
    from store.engines.schema import DEFAULT_TENANT_KEY, SQLITE, event_key, tables
    from store.errors import DamagedDatabase
    from store.log.append import Prepared, append
    from store.log.capture import read_capture
    from store.log.envelope import read_envelope
    from store.port import DEFAULT_TENANT, Appended, Submission

    connection = context.config.attributes["store"]
    for index in _INDEXES:
        connection.execute(f"DROP INDEX {index}")
    for table in _TABLES:
        connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    for statement in tables(SQLITE):
        connection.execute(statement)
    for position, event_id, received_us, text in _old_events(connection):
        envelope = read_envelope(text)
        submission = Submission(
            envelope=envelope,
            capture=read_capture(envelope),
            caller_key=None,
            event_id=event_id,
            received_at=_EPOCH + timedelta(microseconds=received_us),
        )
        (appended,) = append(connection, DEFAULT_TENANT_KEY, [Prepared.of(DEFAULT_TENANT, submission)])
        if not isinstance(appended, Appended) or appended.position != position:
            raise DamagedDatabase("an event of the old tables has no place in the new ones")
    # What callers bound by Idempotency-Key; the digests are made as they were.
    connection.execute(
        "INSERT INTO event_keys (key, tenant, event_key) SELECT key, ?, ? + position FROM old_event_keys WHERE true"
        " ON CONFLICT DO NOTHING",
        (DEFAULT_TENANT_KEY, event_key(DEFAULT_TENANT_KEY, 0)),
    )
    for table in _TABLES:
        connection.execute(f"DROP TABLE old_{table}")


def _old_events(connection: Any) -> Iterator[tuple[int, str, int, bytes]]:
    from store.log.event_body import chunk_text

    sql = "SELECT position, event_id, received_us, turns_bytes, body FROM old_events ORDER BY position"
    for position, event_id, received_us, turns_bytes, kept in connection.execute(sql):
        pieces, start = [], 0
        while start < len(kept):
            end = start + _LENGTH_BYTES + int.from_bytes(kept[start : start + _LENGTH_BYTES], "big")
            pieces.append(chunk_text(kept[start + _LENGTH_BYTES : end]))
            start = end
        text = b"".join(pieces)
        if turns_bytes:
            turns, rest = text[:turns_bytes], text[turns_bytes:]
            text = rest[:-3] + b',"turns":[' + turns + b"]}}}"
        yield position, event_id, received_us, text
