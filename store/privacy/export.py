"""Everything of a person as one JSON document (CONTRACT 10a): their events, the turns these brought, their sessions.

It is read in pages, each in a transaction of its own, and sent as it is read: what is held is a page, and the ids of
one session's turns. What is appended or erased meanwhile shows from the next page on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import orjson

from agent.core.timestamps import utc_text
from store.engines.engine import Connection, Engine
from store.engines.schema import MAX_POSITION, event_key
from store.errors import NotFound
from store.lists import labels
from store.lists.session_list import session_json
from store.log.envelope import encode_sent, parse_kept
from store.log.event_rows import COLUMNS as EVENT_COLUMNS
from store.log.event_rows import envelope_text
from store.log.identifiers import unpacked
from store.log.record import Chunks
from store.log.session_row import COLUMNS as SESSION_COLUMNS
from store.log.session_row import SessionRow, read_row
from store.log.session_rows import batches
from store.log.turn_page import read_turns
from store.port import Actor, TurnsQuery
from store.privacy.session_erasure import brought_by, read_body

_ROWS_AT_ONCE: Final = 100
_BYTES_AT_ONCE: Final = 8 * 1024 * 1024

_NAMED: Final = "SELECT 1 FROM events WHERE tenant = ? AND user_digest = ? LIMIT 1"
_EVENTS: Final = f"""
SELECT {EVENT_COLUMNS} FROM events
WHERE tenant = ? AND user_digest = ? AND event_key BETWEEN ? AND ? ORDER BY event_key LIMIT ?
"""  # noqa: S608 - constants only
_SESSION_KEYS: Final = """
SELECT DISTINCT session_key FROM events WHERE tenant = ? AND user_digest = ? AND session_key IS NOT NULL
ORDER BY session_key
"""
_EVENT_KEYS: Final = """
SELECT event_key FROM events
WHERE tenant = ? AND user_digest = ? AND session_key = ? AND event_key > ? AND turn_count > 0 ORDER BY event_key LIMIT ?
"""
_SESSIONS: Final = f"""
SELECT {SESSION_COLUMNS} FROM sessions WHERE session_key IN (
    SELECT session_key FROM labels WHERE tenant = ? AND kind = ? AND value = ? AND session_key > ?
    ORDER BY session_key LIMIT ?
) ORDER BY session_key
"""  # noqa: S608 - constants only

# A page: its rows, and where the next begins; None where nothing follows.
Page = tuple[list[bytes], int | None]


def require_user(connection: Connection, tenant: int, user_id: str) -> None:
    """Raise NotFound where no event names the user."""
    if connection.execute(_NAMED, (tenant, labels.digest(user_id))).fetchone() is None:
        raise NotFound("no event names this user")


def export_user(
    engine: Engine, tenant: int, user_id: str, actor: Actor, *, timeout_s: float | None = None
) -> Iterator[bytes]:
    """The pieces of the document; the first has the first page in it."""
    person = _Person(engine, tenant, labels.digest(user_id), timeout_s)
    yield b'{"user_id":%b,"exported_at":%b,"events":[' % (orjson.dumps(user_id), orjson.dumps(utc_text(actor.at)))
    yield from _list(person.pages(person.events))
    yield b'],"turns":['
    yield from _list(person.turns())
    yield b'],"sessions":['
    yield from _list(person.pages(person.sessions))
    yield b"]}"


def _list(pages: Iterator[list[bytes]]) -> Iterator[bytes]:
    """The rows of all pages, with the commas between them."""
    begun = False
    for rows in pages:
        if rows:
            yield (b"," if begun else b"") + b",".join(rows)
            begun = True


class _Person:
    """What a tenant has of one person, read page by page."""

    def __init__(self, engine: Engine, tenant: int, user: bytes, timeout_s: float | None) -> None:
        self._engine = engine
        self._tenant = tenant
        self._user = user
        self._timeout_s = timeout_s
        # Sessions whose first user turn, which their rows show, is one of the person's; known once the turns were read.
        self._speaks_first: set[int] = set()

    def pages(self, read: Callable[[Connection, int], Page]) -> Iterator[list[bytes]]:
        """All pages that ``read`` gives from 0 on. No transaction is open while one is sent."""
        after: int | None = 0
        while after is not None:
            with self._engine.reading(timeout_s=self._timeout_s) as connection:
                rows, after = read(connection, after)
            yield rows

    def events(self, connection: Connection, after: int) -> Page:
        """Envelopes of events beyond the row ``after``."""
        first = max(after + 1, event_key(self._tenant, 0))
        span = (first, event_key(self._tenant, MAX_POSITION))
        chunks = Chunks(connection, self._tenant)
        texts: list[bytes] = []
        size = 0
        rows = connection.execute(_EVENTS, (self._tenant, self._user, *span, _ROWS_AT_ONCE))
        for row in rows:
            texts.append(envelope_text(chunks, row))
            size += len(texts[-1])
            if size >= _BYTES_AT_ONCE or len(texts) == _ROWS_AT_ONCE:
                return texts, row[0]
        return texts, None

    def sessions(self, connection: Connection, after: int) -> Page:
        """Rows of the sessions that name the person, beyond the session ``after``: of persons they name nobody else."""
        rows = connection.execute(_SESSIONS, (self._tenant, labels.USER, self._user, after, _ROWS_AT_ONCE)).fetchall()
        found = [read_row(row) for row in rows]
        return [session_json(self._alone(row)) for row in found], found[-1].key if len(found) == _ROWS_AT_ONCE else None

    def _alone(self, row: SessionRow) -> SessionRow:
        """The row without other users' names, and without what another said first."""
        content = row.first_user_content if row.key in self._speaks_first else None
        users = tuple(name for name in row.users if labels.digest(name) == self._user)
        return replace(row, users=users, first_user_content=content)

    def turns(self) -> Iterator[list[bytes]]:
        """Pages of the turns that the person's events brought, session by session, in ``seq`` order."""
        with self._engine.reading(timeout_s=self._timeout_s) as connection:
            keys = [key for (key,) in connection.execute(_SESSION_KEYS, (self._tenant, self._user)).fetchall()]
        for session_key in keys:
            yield from self._turns_of(session_key, self._brought(session_key))

    def _brought(self, session_key: int) -> set[bytes]:
        """The ids of the turns of a session that came in the person's events."""
        found: set[bytes] = set()
        after: int | None = 0
        while after is not None:
            with self._engine.reading(timeout_s=self._timeout_s) as connection:
                values = (self._tenant, self._user, session_key, after, _ROWS_AT_ONCE)
                keys = [key for (key,) in connection.execute(_EVENT_KEYS, values).fetchall()]
                for key in keys:
                    found.update(brought_by(read_body(connection, key)[1]))
            after = keys[-1] if len(keys) == _ROWS_AT_ONCE else None
        return found

    def _turns_of(self, session_key: int, turn_ids: set[bytes]) -> Iterator[list[bytes]]:
        with self._engine.reading(timeout_s=self._timeout_s) as connection:
            sql = "SELECT session_id, first_user_seq FROM sessions WHERE session_key = ?"
            session_id, first_user_seq = connection.execute(sql, (session_key,)).fetchone()
            places: list[int] = []
            for marks, some in batches(sorted(turn_ids)):
                sql = f"SELECT seq FROM turns WHERE session_key = ? AND turn_id IN ({marks})"  # noqa: S608 - marks only
                places += [seq for (seq,) in connection.execute(sql, (session_key, *some)).fetchall()]
        if first_user_seq in places:
            self._speaks_first.add(session_key)
        for first, last in _runs(sorted(places)):
            yield from self._run(session_id, first, last)

    def _run(self, session_id: bytes, first: int, last: int) -> Iterator[list[bytes]]:
        """The records of neighbours, ``first`` to ``last``."""
        name = unpacked(session_id)
        while first <= last:
            query = TurnsQuery(session_id, limit=min(last - first + 1, _ROWS_AT_ONCE), after_seq=first - 1)
            with self._engine.reading(timeout_s=self._timeout_s) as connection:
                records = read_turns(connection, self._tenant, query, page_bytes=_BYTES_AT_ONCE)
            if not records:  # pragma: no cover - turns are emptied and never removed: so a damaged table ends it too
                return
            yield [_with_session(record, name) for record in records]
            first += len(records)


def _runs(places: list[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of each run of neighbours."""
    if not places:
        return
    first = places[0]
    for place, following in pairwise(places):
        if following != place + 1:
            yield first, place
            first = following
    yield first, places[-1]


def _with_session(record: bytes, session_id: str) -> bytes:
    if b'"session_id"' not in record:
        return b'{"session_id":"%b",' % session_id.encode() + record[1:]
    # The turn has a member of this name, or a text that looks like one. Its event above has it as it was sent.
    fields: dict[str, Any] = parse_kept(record)
    return encode_sent({**fields, "session_id": session_id})
