"""The words of sessions, for ``q`` (CONTRACT 10): a table of digests (store.lists.words) that follows the log.

An append does not touch it. A search first brings it up to the log, reading apart from writers and writing in small
transactions, so it never misses what was acknowledged before. The words of a session are those of its turns' latest
revisions that are not erased.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from store.engines.engine import Connection, Engine
from store.engines.schema import MAX_POSITION, MAX_SEQ, event_key, position_of, turn_key
from store.lists.words import words
from store.log.damage import reading_event
from store.log.envelope import parse_kept
from store.log.event_body import open_body
from store.log.layout import NEW, REVISED, unpack
from store.log.record import Chunks, RevisionPlace

_EVENTS_AT_ONCE: Final = 100
_WORDS_AT_ONCE: Final = 20_000

_INSERT: Final = "INSERT INTO words (session_key, word, tenant) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_BEHIND: Final = """
SELECT event_key, session_key, layout, body FROM events
WHERE event_key BETWEEN ? AND ? ORDER BY event_key LIMIT ?
"""
_TURNS: Final = """
SELECT revision_position, own_index, body FROM turns WHERE turn_key BETWEEN ? AND ? AND erased = 0 ORDER BY turn_key
"""
_LAST_ERASURE: Final = "SELECT max(erasure_key) FROM erasures WHERE erasure_key BETWEEN ? AND ?"
_ADVANCE: Final = """
INSERT INTO indexed (tenant, words, labels) VALUES (?, ?, 0) ON CONFLICT (tenant) DO UPDATE SET words = excluded.words
"""


@dataclass(frozen=True, slots=True)
class _Part:
    """What a part of the log adds: ``found`` by session, and the sessions whose words are to be made again."""

    since: int
    until: int
    last_erasure: int | None
    found: dict[int, set[int]]
    revised: frozenset[int]


def catch_up(engine: Engine, tenant: int, *, timeout_s: float | None = None) -> None:
    """Index what the tenant's log has and the table has not."""
    while True:
        with engine.reading(timeout_s=timeout_s) as connection:
            part = _read_part(connection, tenant)
        if part is None:
            return
        with engine.writing(timeout_s=timeout_s) as connection:
            # Another search was there first, or an erasure came between: then what was read is out of date.
            if _position(connection, tenant) == part.since and _last_erasure(connection, tenant) == part.last_erasure:
                _write_part(connection, tenant, part)


def reindex_session(connection: Connection, tenant: int, session_key: int) -> None:
    """Make the words of a session again from its turns."""
    connection.execute("DELETE FROM words WHERE session_key = ?", (session_key,))
    chunks = Chunks(connection, tenant)
    found: set[int] = set()
    span = (turn_key(session_key, 1), turn_key(session_key, MAX_SEQ))
    for place in connection.execute(_TURNS, span).fetchall():
        found |= _content_words(b"{" + chunks.members(RevisionPlace(*place)))
    connection.executemany(_INSERT, [(session_key, word, tenant) for word in sorted(found)])


def _read_part(connection: Connection, tenant: int) -> _Part | None:
    since = _position(connection, tenant)
    span = (event_key(tenant, since + 1), event_key(tenant, MAX_POSITION))
    found: dict[int, set[int]] = {}
    revised: set[int] = set()
    until, count = since, 0
    for key, session_key, layout, kept in connection.execute(_BEHIND, (*span, _EVENTS_AT_ONCE)):
        until = position_of(key)
        with reading_event(until):
            body = open_body(unpack(layout), kept)
        if REVISED in body.layout.kinds:
            revised.add(session_key)
        for turn in body.own:
            if turn.kind == NEW:
                more = _content_words(turn.head + turn.tail)
                found.setdefault(session_key, set()).update(more)
                count += len(more)
        if count >= _WORDS_AT_ONCE:
            break
    if until == since:
        return None
    return _Part(since, until, _last_erasure(connection, tenant), found, frozenset(revised))


def _write_part(connection: Connection, tenant: int, part: _Part) -> None:
    rows = [(key, word, tenant) for key in sorted(part.found) for word in sorted(part.found[key])]
    connection.executemany(_INSERT, rows)
    for session_key in part.revised:
        reindex_session(connection, tenant, session_key)
    connection.execute(_ADVANCE, (tenant, part.until))


def _position(connection: Connection, tenant: int) -> int:
    row = connection.execute("SELECT words FROM indexed WHERE tenant = ?", (tenant,)).fetchone()
    return 0 if row is None else int(row[0])


def _last_erasure(connection: Connection, tenant: int) -> int | None:
    last: int | None
    (last,) = connection.execute(_LAST_ERASURE, (event_key(tenant, 0), event_key(tenant, MAX_POSITION))).fetchone()
    return last


def _content_words(text: bytes) -> frozenset[int]:
    fields: dict[str, Any] = parse_kept(text)
    content = fields.get("content")
    return words(content) if isinstance(content, str) else frozenset()
