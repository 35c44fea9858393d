"""How much a tenant has: sessions, turns, events, and the bytes of the events' bodies."""

from __future__ import annotations

from typing import Final

from store.engines.engine import Connection
from store.engines.schema import MAX_POSITION, event_key
from store.port import Stats

_SESSIONS: Final = "SELECT count(*), coalesce(sum(last_seq), 0) FROM sessions WHERE tenant = ? AND version > 0"
_EVENTS: Final = """
SELECT count(*), coalesce(sum(length(layout) + length(body)), 0) FROM events WHERE event_key BETWEEN ? AND ?
"""


def read_stats(connection: Connection, tenant: int) -> Stats:
    """Counts of ``tenant``."""
    sessions, turns = connection.execute(_SESSIONS, (tenant,)).fetchone()
    span = (event_key(tenant, 0), event_key(tenant, MAX_POSITION))
    events, size = connection.execute(_EVENTS, span).fetchone()
    return Stats(sessions=int(sessions), turns=int(turns), events=int(events), bytes=int(size))
