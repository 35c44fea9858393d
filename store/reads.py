"""What the store gives back: envelopes with their position, and turns as records (CONTRACT 10). SQL and bytes only.

Bodies are spliced, not parsed: a read costs the rows and little more.
"""

from __future__ import annotations

from typing import Any, Final

import orjson

from store.connection import Connection
from store.errors import NotFound
from store.event_body import event_text
from store.event_keys import execution_ref_key
from store.identifiers import lowered, unpacked
from store.port import EventPage, EventsQuery, TurnsQuery
from store.record import Chunks, RevisionPlace
from store.schema import MAX_SEQ, turn_key

# A page ends early rather than fill the memory: the caller goes on from there, with the cursor or by ``after_seq``.
_PAGE_BYTES: Final = 32 * 1024 * 1024

_TURNS: Final = """
SELECT turns.turn_id, seq, parent_turn_id, turns.conversation_id, version, revisions,
    first.timestamp, latest.execution_ref, revision_position, chunk, chunk_bytes, start, size, turns.body
FROM turns
JOIN events AS first ON first.position = first_position
JOIN events AS latest ON latest.position = revision_position
WHERE turn_key BETWEEN :first AND :final
"""
# The first of the newest :last: from there on the page is read in ``seq`` order, and can end early.
_NEWEST: Final = """
SELECT min(turn_key) FROM (
    SELECT turn_key FROM turns WHERE turn_key BETWEEN :first AND :final{bounds} ORDER BY turn_key DESC LIMIT :last
)
"""
_TURN_BOUNDS: Final = {
    "changed_after": " AND version > :changed_after",
    "conversation_id": " AND turns.conversation_id = :conversation_id",
}


def read_event(connection: Connection, tenant: str, execution_ref: str) -> bytes:
    """The envelope with its position. Raises NotFound."""
    row = connection.execute(
        "SELECT position, turns_bytes, body FROM event_keys JOIN events USING (position) WHERE key = ?",
        (execution_ref_key(tenant, lowered(execution_ref)),),
    ).fetchone()
    if row is None:
        raise NotFound("no event has this execution_ref")
    position, turns_bytes, body = row
    return event_text(body, turns_bytes, position)


def read_events(connection: Connection, tenant: str, query: EventsQuery, *, page_bytes: int = _PAGE_BYTES) -> EventPage:
    """One page of envelopes in ``position`` order, shorter than asked where ``page_bytes`` are reached."""
    sql = "SELECT position, turns_bytes, body FROM events WHERE tenant = :tenant"
    if query.session_id is not None:
        sql += (
            " AND session_key = (SELECT session_key FROM sessions WHERE session_id = :session_id AND tenant = :tenant)"
        )
    if query.after is not None:
        sql += " AND position < :after" if query.descending else " AND position > :after"
    sql += " ORDER BY position DESC" if query.descending else " ORDER BY position"
    found = connection.execute(
        sql + " LIMIT :limit",
        {"tenant": tenant, "session_id": query.session_id, "after": query.after, "limit": query.limit + 1},
    )
    events: list[bytes] = []
    last, size = None, 0
    for position, turns_bytes, body in found:
        if len(events) == query.limit or size >= page_bytes:
            return EventPage(tuple(events), last)
        events.append(event_text(body, turns_bytes, position))
        last, size = position, size + len(events[-1])
    return EventPage(tuple(events), None)


def read_turns(
    connection: Connection, tenant: str, query: TurnsQuery, *, page_bytes: int = _PAGE_BYTES
) -> tuple[bytes, ...]:
    """The turns of a session that the query leaves, in ``seq`` order, fewer where ``page_bytes`` are reached.

    Raises NotFound for an unknown session.
    """
    row = connection.execute(
        "SELECT session_key FROM sessions WHERE session_id = ? AND tenant = ? AND version > 0",
        (query.session_id, tenant),
    ).fetchone()
    if row is None:
        raise NotFound("no session has this id")
    bounds = {name: value for name in _TURN_BOUNDS if (value := getattr(query, name)) is not None}
    bounds_sql = "".join(_TURN_BOUNDS[name] for name in bounds)
    first, final = (turn_key(row[0], seq) for seq in _seq_range(query))
    span = {**bounds, "first": first, "final": final}
    if query.last is not None:
        newest = _NEWEST.format(bounds=bounds_sql)
        # NULL where nothing is left: then no row lies in between.
        (span["first"],) = connection.execute(newest, {**span, "last": query.last}).fetchone()
    chunks = Chunks(connection)
    records: list[bytes] = []
    size = 0
    sql = f"{_TURNS}{bounds_sql} ORDER BY turn_key LIMIT :limit"
    for turn in connection.execute(sql, {**span, "limit": query.limit}):
        records.append(_record(chunks, turn))
        size += len(records[-1])
        if size >= page_bytes:
            break
    return tuple(records)


def _seq_range(query: TurnsQuery) -> tuple[int, int]:
    """The first and the last ``seq`` that the query's bounds leave."""
    first = 1 if query.after_seq is None else query.after_seq + 1
    before = MAX_SEQ if query.before_seq is None else query.before_seq - 1
    at = MAX_SEQ if query.at_seq is None else query.at_seq
    return min(first, MAX_SEQ), max(0, min(before, at, MAX_SEQ))


def _record(chunks: Chunks, row: tuple[Any, ...]) -> bytes:
    turn_id, seq, parent, conversation_id, version, revisions, captured_at, execution_ref, *place = row
    ours = orjson.dumps(
        {
            "turn_id": unpacked(turn_id),
            "seq": seq,
            "parent_turn_id": None if parent is None else unpacked(parent),
            "conversation_id": unpacked(conversation_id),
            "captured_at": captured_at,
            "version": version,
            "execution_ref": execution_ref,
            "revisions": revisions,
            "erased": False,
        }
    )
    # The members have none of these names (RECORD_FIELDS), so one object holds both.
    members = chunks.members(RevisionPlace(*place))
    return ours if members == b"}" else ours[:-1] + b"," + members
