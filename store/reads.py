"""What the store gives back: envelopes with their position, and turns as records (CONTRACT 10).

Bodies are spliced, not parsed: a read costs the rows and little more.
"""

from __future__ import annotations

from typing import Any, Final

import orjson

from store import labels
from store.engine import Connection
from store.envelope import parse_kept
from store.errors import NotFound
from store.event_keys import execution_ref_key
from store.event_rows import COLUMNS as EVENT_COLUMNS
from store.event_rows import envelope_text, stored_text
from store.identifiers import lowered, unpacked
from store.port import EventPage, EventsQuery, TurnsQuery
from store.record import Chunks, RevisionPlace
from store.schema import MAX_POSITION, MAX_SEQ, event_key, position_of, turn_key

# A page ends early rather than fill the memory: the caller goes on from there, with the cursor or by ``after_seq``.
_PAGE_BYTES: Final = 32 * 1024 * 1024

# events.instant_us bounds a page by position too: the first and the last event in the range.
_IN_RANGE: Final = (
    "SELECT min(event_key), max(event_key) FROM events WHERE tenant = ? AND instant_us >= ? AND instant_us < ?"
)
_EARLIEST: Final = -(2**62)
_LATEST: Final = 2**62

_TURNS: Final = """
SELECT turns.turn_id, seq, parent_turn_id, turns.conversation_id, version, revisions, turns.erased,
    first_position, revision_position, own_index, turns.body
FROM turns
WHERE turn_key BETWEEN ? AND ?
"""
# The first of the newest: from there on the page is read in ``seq`` order, and can end early.
_NEWEST: Final = """
SELECT min(turn_key) FROM (
    SELECT turn_key FROM turns WHERE turn_key BETWEEN ? AND ?{bounds} ORDER BY turn_key DESC LIMIT ?
) AS newest
"""
_TURN_BOUNDS: Final = {
    "changed_after": " AND version > ?",
    "conversation_id": " AND turns.conversation_id = ?",
}


def read_event(connection: Connection, tenant: int, tenant_name: str, execution_ref: str) -> bytes:
    """The envelope with its position. Raises NotFound."""
    row = connection.execute(
        "SELECT event_key FROM event_keys WHERE key = ?", (execution_ref_key(tenant_name, lowered(execution_ref)),)
    ).fetchone()
    if row is None:
        raise NotFound("no event has this execution_ref")
    return stored_text(connection, tenant, position_of(row[0]))


def read_events(connection: Connection, tenant: int, query: EventsQuery, *, page_bytes: int = _PAGE_BYTES) -> EventPage:
    """One page of envelopes in ``position`` order, shorter than asked where ``page_bytes`` are reached."""
    where, values = _event_filter(connection, tenant, query)
    order = " ORDER BY event_key DESC" if query.descending else " ORDER BY event_key"
    sql = f"SELECT {EVENT_COLUMNS} FROM events WHERE {where}{order} LIMIT ?"  # noqa: S608 - constants only
    chunks = Chunks(connection, tenant)
    events: list[bytes] = []
    last, size = None, 0
    for row in connection.execute(sql, (*values, query.limit + 1)):
        if len(events) == query.limit or size >= page_bytes:
            return EventPage(tuple(events), last)
        events.append(envelope_text(chunks, row))
        last, size = position_of(row[0]), size + len(events[-1])
    return EventPage(tuple(events), None)


def _event_filter(connection: Connection, tenant: int, query: EventsQuery) -> tuple[str, list[Any]]:
    lowest, highest = event_key(tenant, 0), event_key(tenant, MAX_POSITION)
    if query.after is not None and query.descending:
        highest = event_key(tenant, max(query.after - 1, 0))
    elif query.after is not None:
        lowest = event_key(tenant, min(query.after + 1, MAX_POSITION))
    where: list[str] = []
    values: list[Any] = []
    if query.from_us is not None or query.to_us is not None:
        since = _EARLIEST if query.from_us is None else query.from_us
        until = _LATEST if query.to_us is None else query.to_us
        first, last = connection.execute(_IN_RANGE, (tenant, since, until)).fetchone()
        lowest, highest = max(lowest, first or highest + 1), min(highest, last or lowest - 1)
        where.append("instant_us >= ? AND instant_us < ?")
        values += [since, until]
    if query.session_id is not None:
        where.append("session_key = (SELECT session_key FROM sessions WHERE session_id = ? AND tenant = ?)")
        values += [query.session_id, tenant]
    if query.conversation_id is not None:
        where.append("conversation_id = ?")
        values.append(query.conversation_id)
        if query.session_id is None:
            where.append(
                "(session_key IN (SELECT session_key FROM labels WHERE tenant = ? AND kind = ? AND value = ?)"
                " OR session_key IS NULL)"
            )
            values += [tenant, labels.CONVERSATION, query.conversation_id]
    for column, wanted in (("agent_id", query.agent_id), ("decision_type", query.decision_type)):
        if wanted is not None:
            _add_name(where, values, column, (wanted,))
    if query.types is not None:
        _add_name(where, values, "type", query.types)
    return " AND ".join(["event_key BETWEEN ? AND ?", *where]), [lowest, highest, *values]


def _add_name(where: list[str], values: list[Any], column: str, wanted: tuple[str, ...]) -> None:
    from agent.core.decision import AGENT_ID, DECISION_TYPE

    marks = ", ".join("?" * len(wanted))
    # Events of others are few, and have an index each; ours are nearly all, and need none.
    others = "" if {AGENT_ID, DECISION_TYPE}.intersection(wanted) else " AND ours = 0"
    where.append(f"{column} IN ({marks}){others}")
    values += [name.encode() for name in wanted]


def read_turns(
    connection: Connection, tenant: int, query: TurnsQuery, *, page_bytes: int = _PAGE_BYTES
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
    if query.last is not None:
        newest = _NEWEST.format(bounds=bounds_sql)
        (first,) = connection.execute(newest, (first, final, *bounds.values(), query.last)).fetchone()
        if first is None:
            return ()
    sql = f"{_TURNS}{bounds_sql} ORDER BY turn_key LIMIT ?"
    rows = connection.execute(sql, (first, final, *bounds.values(), query.limit)).fetchall()
    return _records(connection, tenant, rows, page_bytes)


def _seq_range(query: TurnsQuery) -> tuple[int, int]:
    """The first and the last ``seq`` that the query's bounds leave."""
    first = 1 if query.after_seq is None else query.after_seq + 1
    before = MAX_SEQ if query.before_seq is None else query.before_seq - 1
    at = MAX_SEQ if query.at_seq is None else query.at_seq
    return min(first, MAX_SEQ), max(0, min(before, at, MAX_SEQ))


def _records(connection: Connection, tenant: int, rows: list[Any], page_bytes: int) -> tuple[bytes, ...]:
    chunks = Chunks(connection, tenant)
    origins = Origins(connection, tenant, rows)
    records: list[bytes] = []
    size = 0
    for row in rows:
        records.append(_record(chunks, origins, row))
        size += len(records[-1])
        if size >= page_bytes:
            break
    return tuple(records)


class Origins:
    """When a turn first came, and which event revised it last: two columns of few events, looked up together."""

    def __init__(self, connection: Connection, tenant: int, rows: list[Any]) -> None:
        positions = sorted({position for row in rows for position in (row[7], row[8])})
        self.of: dict[int, tuple[str, str]] = {}
        for start in range(0, len(positions), _ORIGINS_AT_ONCE):
            some = positions[start : start + _ORIGINS_AT_ONCE]
            keys = [event_key(tenant, position) for position in some]
            keys += [keys[-1]] * (_ORIGINS_AT_ONCE - len(keys) if len(keys) > 1 else 0)
            marks = ", ".join("?" * len(keys))
            sql = f"SELECT event_key, timestamp, execution_ref FROM events WHERE event_key IN ({marks})"  # noqa: S608 - marks only
            for key, timestamp, execution_ref in connection.execute(sql, keys):
                self.of[position_of(key)] = (timestamp.decode(), execution_ref.decode())


_ORIGINS_AT_ONCE: Final = 128


def _record(chunks: Chunks, origins: Origins, row: tuple[Any, ...]) -> bytes:
    turn_id, seq, parent, conversation_id, version, revisions, erased, first, latest, own_index, body = row
    ours = orjson.dumps(
        {
            "turn_id": unpacked(turn_id),
            "seq": seq,
            "parent_turn_id": None if parent is None else unpacked(parent),
            "conversation_id": unpacked(conversation_id),
            "captured_at": origins.of[first][0],
            "version": version,
            "execution_ref": origins.of[latest][1],
            "revisions": revisions,
            "erased": bool(erased),
        }
    )
    if erased:
        role = parse_kept(b"{" + chunks.members(RevisionPlace(latest, own_index, None))).get("role")
        return ours if role is None else ours[:-1] + b',"role":' + orjson.dumps(role) + b"}"
    # The members have none of these names (RECORD_FIELDS), so one object holds both.
    members = chunks.members(RevisionPlace(latest, own_index, body))
    return ours if members == b"}" else ours[:-1] + b"," + members
