"""The rows of labels (store.lists.labels) follow the log: an append writes none, who lists by them brings them up to
date.

That spares an append a page for each user, agent, tag and conversation, and costs a list a look at the events since the
last one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson

from store.engines.engine import Connection, Engine
from store.engines.schema import MAX_POSITION, event_key, position_of
from store.lists import labels

_EVENTS_AT_ONCE: Final = 1000
_SESSIONS_AT_ONCE: Final = 100

_BEHIND: Final = """
SELECT event_key, session_key, conversation_id FROM events WHERE event_key BETWEEN ? AND ? ORDER BY event_key LIMIT ?
"""
_POSITION: Final = "SELECT labels FROM indexed WHERE tenant = ?"
_ADVANCE: Final = """
INSERT INTO indexed (tenant, words, labels) VALUES (?, 0, ?) ON CONFLICT (tenant) DO UPDATE SET labels = excluded.labels
"""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the log: the sessions that its events name, and with which conversations."""

    since: int
    until: int
    sessions: tuple[int, ...]
    conversations: frozenset[tuple[int, bytes]]


def catch_up(engine: Engine, tenant: int, *, timeout_s: float | None = None) -> None:
    """Write the labels that the tenant's log has and the table has not."""
    while True:
        with engine.reading(timeout_s=timeout_s) as connection:
            part = _read_part(connection, tenant)
        if part is None:
            return
        with engine.writing(timeout_s=timeout_s) as connection:
            # Another list was there first.
            if _position(connection, tenant) == part.since:
                _write_part(connection, tenant, part)


def _read_part(connection: Connection, tenant: int) -> _Part | None:
    since = _position(connection, tenant)
    span = (event_key(tenant, since + 1), event_key(tenant, MAX_POSITION))
    rows: list[tuple[int, int | None, bytes | None]]
    rows = connection.execute(_BEHIND, (*span, _EVENTS_AT_ONCE)).fetchall()
    if not rows:
        return None
    sessions = {session: None for _, session, _ in rows if session is not None}
    named = ((session, conversation) for _, session, conversation in rows)
    conversations = frozenset((session, value) for session, value in named if session is not None and value is not None)
    return _Part(since, position_of(rows[-1][0]), tuple(sessions), conversations)


def _write_part(connection: Connection, tenant: int, part: _Part) -> None:
    # The names that the sessions have now: an erasure since then has taken others away.
    rows: list[tuple[Any, ...]] = [(tenant, labels.CONVERSATION, value, key) for key, value in part.conversations]
    for start in range(0, len(part.sessions), _SESSIONS_AT_ONCE):
        some = part.sessions[start : start + _SESSIONS_AT_ONCE]
        marks = ", ".join("?" * _SESSIONS_AT_ONCE)
        sql = f"SELECT session_key, users, agents, tags FROM sessions WHERE session_key IN ({marks})"  # noqa: S608 - marks only
        padded = some + (some[-1],) * (_SESSIONS_AT_ONCE - len(some))
        for key, *named in connection.execute(sql, padded).fetchall():
            for kind, names in zip((labels.USER, labels.AGENT, labels.TAG), named, strict=True):
                rows += [(tenant, kind, labels.digest(name), key) for name in orjson.loads(names)]
    connection.executemany(labels.INSERT, sorted(rows))
    connection.execute(_ADVANCE, (tenant, part.until))


def _position(connection: Connection, tenant: int) -> int:
    row = connection.execute(_POSITION, (tenant,)).fetchone()
    return 0 if row is None else int(row[0])
