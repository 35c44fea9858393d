"""What the store gives back: envelopes with their position, and turns as records (CONTRACT 10).

Bodies are spliced, not parsed: a read costs the rows and little more.
"""

from __future__ import annotations

from typing import Any, Final

from agent.core.agent_identity import AGENT_ID
from agent.core.decision import DECISION_TYPE
from store.engines.engine import Connection
from store.engines.schema import MAX_POSITION, event_key, position_of
from store.errors import DamagedEvent, NotFound
from store.lists import labels
from store.log.event_keys import execution_ref_key
from store.log.event_rows import COLUMNS as EVENT_COLUMNS
from store.log.event_rows import envelope_text, stored_text
from store.log.identifiers import lowered
from store.log.record import Chunks
from store.port import EventPage, EventsQuery

# A page ends early rather than fill the memory: the caller goes on from there, with the cursor or by ``after_seq``.
_PAGE_BYTES: Final = 32 * 1024 * 1024

# events.instant_us bounds a page by position too: the first and the last event in the range.
_IN_RANGE: Final = (
    "SELECT min(event_key), max(event_key) FROM events WHERE tenant = ? AND instant_us >= ? AND instant_us < ?"
)
_LISTED: Final = "SELECT coalesce(max(labels), 0) FROM indexed WHERE tenant = ?"
_EARLIEST: Final = -(2**62)
_LATEST: Final = 2**62


def read_event(connection: Connection, tenant: int, tenant_name: str, execution_ref: str) -> bytes:
    """The envelope with its position. Raises NotFound."""
    row = connection.execute(
        "SELECT event_key FROM event_keys WHERE key = ?", (execution_ref_key(tenant_name, lowered(execution_ref)),)
    ).fetchone()
    if row is None:
        raise NotFound("no event has this execution_ref")
    return stored_text(connection, tenant, position_of(row[0]))


def read_events(connection: Connection, tenant: int, query: EventsQuery, *, page_bytes: int = _PAGE_BYTES) -> EventPage:
    """One page of envelopes in ``position`` order, shorter than asked where ``page_bytes`` are reached.

    It ends before an event that cannot be read. Raises DamagedEvent where that would be the first of the page.
    """
    where, values = _event_filter(connection, tenant, query)
    order = " ORDER BY event_key DESC" if query.descending else " ORDER BY event_key"
    sql = f"SELECT {EVENT_COLUMNS} FROM events WHERE {where}{order} LIMIT ?"  # noqa: S608 - constants only
    chunks = Chunks(connection, tenant)
    events: list[bytes] = []
    last, size = None, 0
    for row in connection.execute(sql, (*values, query.limit + 1)):
        if len(events) == query.limit or size >= page_bytes:
            return EventPage(tuple(events), last)
        try:
            events.append(envelope_text(chunks, row))
        except DamagedEvent:
            if not events:
                raise
            return EventPage(tuple(events), last)
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
                " OR session_key IS NULL OR event_key > ?)"
            )
            # What came since the labels were brought up to date is looked at itself.
            (listed,) = connection.execute(_LISTED, (tenant,)).fetchone()
            values += [tenant, labels.CONVERSATION, query.conversation_id, event_key(tenant, listed)]
    for column, wanted in (("agent_id", query.agent_id), ("decision_type", query.decision_type)):
        if wanted is not None:
            _add_name(where, values, column, (wanted,))
    if query.types is not None:
        _add_name(where, values, "type", query.types)
    return " AND ".join(["event_key BETWEEN ? AND ?", *where]), [lowest, highest, *values]


def _add_name(where: list[str], values: list[Any], column: str, wanted: tuple[str, ...]) -> None:
    marks = ", ".join("?" * len(wanted))
    # Events of others are few, and have an index each; ours are nearly all, and need none.
    others = "" if {AGENT_ID, DECISION_TYPE}.intersection(wanted) else " AND ours = 0"
    where.append(f"{column} IN ({marks}){others}")
    values += [name.encode() for name in wanted]
