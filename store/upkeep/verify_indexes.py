"""What rows are found by, looked at from the other side: keys without an event, labels that no session has.

That each event and each session has its own is looked at with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import orjson

from store.engines.engine import Connection, Engine
from store.engines.schema import MAX_POSITION, event_key
from store.lists import labels
from store.upkeep.verify_tally import Finding, Tenant

_ROWS_AT_ONCE: Final = 1000
# Where an event is lost, its position is told already: a key is strange where an erasure stands, or nobody's position.
_KEYS: Final = """
SELECT event_keys.key, event_keys.event_key, events.event_key, erasures.erasure_key FROM event_keys
LEFT JOIN events ON events.event_key = event_keys.event_key
LEFT JOIN erasures ON erasures.erasure_key = event_keys.event_key
WHERE event_keys.key > ? AND event_keys.tenant = ? ORDER BY event_keys.key LIMIT ?
"""
# A conversation has a leaf, which an index finds; the other look is for one without turns.
_LABELS: Final = """
SELECT labels.kind, labels.value, labels.session_key, sessions.session_id, users, agents, tags,
    EXISTS (SELECT 1 FROM turns WHERE turns.session_key = labels.session_key
            AND turns.conversation_id = labels.value AND is_leaf = 1),
    EXISTS (SELECT 1 FROM events WHERE events.session_key = labels.session_key),
    EXISTS (SELECT 1 FROM events WHERE events.session_key = labels.session_key
            AND events.conversation_id = labels.value)
FROM labels LEFT JOIN sessions ON sessions.session_key = labels.session_key AND sessions.tenant = labels.tenant
WHERE labels.tenant = ? AND (labels.kind, labels.value, labels.session_key) > (?, ?, ?)
ORDER BY labels.kind, labels.value, labels.session_key LIMIT ?
"""
_ARRIVED: Final = """
SELECT awaited_parents.session_key, awaited_parents.turn_id, sessions.session_id FROM awaited_parents
JOIN turns ON turns.session_key = awaited_parents.session_key AND turns.turn_id = awaited_parents.turn_id
LEFT JOIN sessions ON sessions.session_key = awaited_parents.session_key
WHERE awaited_parents.tenant = ? ORDER BY awaited_parents.session_key, awaited_parents.turn_id
"""
_NAMES: Final = {labels.USER: 0, labels.AGENT: 1, labels.TAG: 2}


def check_indexes(engine: Engine, tenant: Tenant, report: Callable[[Finding], None]) -> None:
    """Look at the keys, the labels and the awaited parents of a tenant."""
    _in_pages(engine, (b"",), lambda connection, after: _keys(connection, tenant, after, report))
    _in_pages(engine, (0, b"", 0), lambda connection, after: _labels(connection, tenant, after, report))
    with engine.reading() as connection:
        for session_key, turn_id, session_id in connection.execute(_ARRIVED, (tenant.key,)).fetchall():
            subject = tenant.turn(turn_id, tenant.session(session_id, session_key))
            report(Finding("wrong_turn", subject, "it is there, and still awaited as a parent"))


Page = Callable[[Connection, tuple[Any, ...]], Sequence[tuple[Any, ...]]]


def _in_pages(engine: Engine, after: tuple[Any, ...], page: Page) -> None:
    """Go through a table by its key, a page a transaction; ``page`` returns the rows that it read, their keys first."""
    while True:
        with engine.reading() as connection:
            rows = page(connection, after)
        if len(rows) < _ROWS_AT_ONCE:
            return
        after = rows[-1][: len(after)]


def _keys(
    connection: Connection, tenant: Tenant, after: tuple[Any, ...], report: Callable[[Finding], None]
) -> Sequence[tuple[Any, ...]]:
    rows = connection.execute(_KEYS, (*after, tenant.key, _ROWS_AT_ONCE)).fetchall()
    own = range(event_key(tenant.key, 1), event_key(tenant.key, MAX_POSITION) + 1)
    for _, key, event, erasure in rows:
        if event is None and (erasure is not None or key not in own):
            report(Finding("wrong_key", tenant.event(key), "a key names it, and no event ever stood there"))
    return rows


def _labels(
    connection: Connection, tenant: Tenant, after: tuple[Any, ...], report: Callable[[Finding], None]
) -> Sequence[tuple[Any, ...]]:
    rows = connection.execute(_LABELS, (tenant.key, *after, _ROWS_AT_ONCE)).fetchall()
    # A session may have a thousand names, and a row for each.
    digests: dict[tuple[int, int], frozenset[bytes]] = {}
    for kind, value, session_key, session_id, *of_session, has_turns, has_events, is_named in rows:
        if session_id is None:
            # Where its events are there, the session is told as lost already.
            is_right = bool(has_events)
        elif kind == labels.CONVERSATION:
            is_right = bool(has_turns or is_named)
        else:
            if (kind, session_key) not in digests:
                names = orjson.loads(of_session[_NAMES[kind]]) if kind in _NAMES else ()
                digests[kind, session_key] = frozenset(map(labels.digest, names))
            is_right = value in digests[kind, session_key]
        if not is_right:
            report(Finding("surplus_label", tenant.session(session_id, session_key), "it is listed by what it is not"))
    return rows
