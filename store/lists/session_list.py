"""Lists of sessions, newest activity first (CONTRACT 10), by the rows that appends and erasures keep.

A list goes on from a cursor as the log was at the first page: a session that becomes active meanwhile keeps its place,
so that no row is skipped or repeated. Its activity as of then is looked up in the log; who is new since then is left
for the next list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final

import orjson

from agent.core.timestamps import utc_text
from store.engines.engine import Connection
from store.engines.schema import MAX_POSITION, event_key, position_of
from store.errors import NotFound
from store.lists import labels
from store.lists.words import wanted
from store.log.identifiers import unpacked
from store.log.session_row import COLUMNS, SessionRow, read_row
from store.port import SessionPage, SessionsCursor, SessionsQuery

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# A leap second at the end of 9999, which 0.1.0 took, is no datetime.
_LAST_US: Final = 253_402_300_799_999_999
_LATEST_US: Final = 2**62
_LAST_KEY: Final = 2**62

# Up to so many sessions with a label, they are all looked at and sorted; beyond, the list of all is filtered.
_FEW: Final = 2000
_STEP: Final = 200

_BY_ACTIVITY: Final = f"""
SELECT {COLUMNS} FROM sessions
WHERE tenant = ? AND version > 0 AND (activity_us, session_key) < (?, ?)
ORDER BY activity_us DESC, session_key DESC LIMIT ?
"""  # noqa: S608 - constants only
_COUNT: Final = "SELECT count(*) FROM sessions WHERE tenant = ? AND version > 0"
_ACTIVITY_THEN: Final = """
SELECT min(event_key), max(instant_us) FROM events WHERE session_key = ? AND event_key <= ? AND turn_count > 0
"""
_ACTIVE_SINCE: Final = """
SELECT DISTINCT session_key FROM events WHERE event_key > ? AND event_key <= ? AND session_key IS NOT NULL
"""


def read_session(connection: Connection, tenant: int, session_id: bytes) -> bytes:
    """The JSON row of one session. Raises NotFound for one without turns."""
    sql = f"SELECT {COLUMNS} FROM sessions WHERE session_id = ? AND tenant = ? AND version > 0"  # noqa: S608 - constants only
    row = connection.execute(sql, (session_id, tenant)).fetchone()
    if row is None:
        raise NotFound("no session has this id")
    return session_json(read_row(row))


def session_json(row: SessionRow) -> bytes:
    """A session as lists show it."""
    fields: dict[str, Any] = {"session_id": unpacked(row.session_id)}
    if row.native_session_id is not None:
        fields["native_session_id"] = row.native_session_id.decode()
    fields |= {
        "first_user_content": None if row.first_user_content is None else row.first_user_content.decode(),
        "created_at": _text(row.created_us),
        "last_activity": _text(row.activity_us),
        "first_turn_at": None if row.first_turn_us is None else _text(row.first_turn_us),
        "last_turn_at": None if row.last_turn_us is None else _text(row.last_turn_us),
        "turn_count": row.last_seq,
        "agents": row.agents,
        "users": row.users,
        "tags": row.tags,
    }
    if row.total_tokens is not None:
        fields["total_tokens"] = orjson.Fragment(str(row.total_tokens))
    return orjson.dumps({**fields, "version": row.version})


def read_sessions(connection: Connection, tenant: int, query: SessionsQuery) -> SessionPage:
    """One page. ``store.lists.search`` has indexed what ``q`` may find."""
    position = query.after.position if query.after is not None else _last_position(connection, tenant)
    listing = _Listing(connection, tenant, query, position)
    found = listing.rows()
    # Two steps: islice takes no end beyond sys.maxsize.
    page = list(islice(islice(found, query.offset, None), query.limit + 1))
    last = None
    if len(page) > query.limit:
        activity_us, row = page[query.limit - 1]
        last = SessionsCursor(position, activity_us, row.key)
    total = None
    if query.total and not listing.is_filtered():
        total = int(connection.execute(_COUNT, (tenant,)).fetchone()[0])
    elif query.total:
        everything = _Listing(connection, tenant, query, position, from_start=True)
        total = sum(1 for _ in everything.rows())
    return SessionPage(tuple(session_json(row) for _, row in page[: query.limit]), last, total)


@dataclass(frozen=True, slots=True)
class _Listing:
    """A list as of ``position``; ``from_start`` leaves the cursor of the query aside."""

    connection: Connection
    tenant: int
    query: SessionsQuery
    position: int
    from_start: bool = False

    def rows(self) -> Iterator[tuple[int, SessionRow]]:
        """The sessions that the query leaves, with their activity as of the position."""
        words = frozenset() if self.query.q is None else wanted(self.query.q)
        if self.query.q is not None and not words:
            return
        candidates = self._few(words)
        moved = self._moved()
        if candidates is None:
            yield from self._filtered(self._all(moved), self._labels(), words)
        else:
            rows = self._by_key(candidates)
            dated = ((self._then(row.key) if row.key in moved else row.activity_us, row) for row in rows)
            listed = [(at, row) for at, row in dated if at is not None and self._is_below(at, row.key)]
            listed.sort(key=lambda pair: (pair[0], pair[1].key), reverse=True)
            yield from self._filtered(iter(listed), self._labels(), words)

    def is_filtered(self) -> bool:
        """Whether some sessions may be left out."""
        query = self.query
        return query.q is not None or query.from_us is not None or query.to_us is not None or bool(self._labels())

    def _labels(self) -> list[tuple[int, bytes]]:
        query = self.query
        named = ((labels.USER, query.user_id), (labels.AGENT, query.agent_id), (labels.TAG, query.tag))
        found = [(kind, labels.digest(value)) for kind, value in named if value is not None]
        if query.conversation_id is not None:
            found.append((labels.CONVERSATION, query.conversation_id))
        return found

    def _few(self, words: frozenset[int]) -> list[int] | None:
        """The sessions of the rarest filter, where they are few; None where every filter leaves many."""
        for kind, value in self._labels():
            sql = "SELECT session_key FROM labels WHERE tenant = ? AND kind = ? AND value = ? LIMIT ?"
            keys = [key for (key,) in self.connection.execute(sql, (self.tenant, kind, value, _FEW + 1))]
            if len(keys) <= _FEW:
                return keys
        for word in words:
            sql = "SELECT session_key FROM words WHERE word = ? AND tenant = ? LIMIT ?"
            keys = [key for (key,) in self.connection.execute(sql, (word, self.tenant, _FEW + 1))]
            if len(keys) <= _FEW:
                return keys
        return None

    def _moved(self) -> frozenset[int]:
        """The sessions with events since the position of the first page."""
        if self.query.after is None:
            return frozenset()
        span = (event_key(self.tenant, self.position), event_key(self.tenant, MAX_POSITION))
        return frozenset(key for (key,) in self.connection.execute(_ACTIVE_SINCE, span))

    def _then(self, session_key: int) -> int | None:
        """A session's activity as of the position; None where it had no turns yet."""
        until = event_key(self.tenant, self.position)
        first, activity_us = self.connection.execute(_ACTIVITY_THEN, (session_key, until)).fetchone()
        return None if first is None else int(activity_us)

    def _is_below(self, activity_us: int, session_key: int) -> bool:
        after = None if self.from_start else self.query.after
        return after is None or (activity_us, session_key) < (after.activity_us, after.session_key)

    def _all(self, moved: frozenset[int]) -> Iterator[tuple[int, SessionRow]]:
        """All sessions below the cursor: by the index, and those that moved since at their old places."""
        dated = [(at, row) for row in self._by_key(sorted(moved)) if (at := self._then(row.key)) is not None]
        waiting = sorted(((at, row.key, row) for at, row in dated if self._is_below(at, row.key)), key=_place)
        for at, row in self._by_activity():
            if row.key in moved:
                continue
            while waiting and waiting[-1][:2] > (at, row.key):
                then, _, old = waiting.pop()
                yield then, old
            yield at, row
        yield from ((then, old) for then, _, old in reversed(waiting))

    def _by_activity(self) -> Iterator[tuple[int, SessionRow]]:
        after = None if self.from_start else self.query.after
        at, key = (_LATEST_US, _LAST_KEY) if after is None else (after.activity_us, after.session_key)
        if self.query.to_us is not None:
            at, key = min((at, key), (self.query.to_us, 0))
        size = self.query.limit + 1
        while True:
            rows = self.connection.execute(_BY_ACTIVITY, (self.tenant, at, key, size)).fetchall()
            for values in rows:
                row = read_row(values)
                yield row.activity_us, row
                at, key = row.activity_us, row.key
            if len(rows) < size:
                return
            size = max(size, _STEP)

    def _by_key(self, keys: Sequence[int]) -> Iterator[SessionRow]:
        for start in range(0, len(keys), _STEP):
            some = list(keys[start : start + _STEP])
            marks = ", ".join("?" * _STEP)
            sql = f"SELECT {COLUMNS} FROM sessions WHERE session_key IN ({marks}) AND version > 0"  # noqa: S608 - constants and marks
            padded = some + [some[-1]] * (_STEP - len(some))
            yield from (read_row(row) for row in self.connection.execute(sql, padded).fetchall())

    def _filtered(
        self, rows: Iterator[tuple[int, SessionRow]], named: list[tuple[int, bytes]], words: frozenset[int]
    ) -> Iterator[tuple[int, SessionRow]]:
        since, until = self.query.from_us, self.query.to_us
        for at, row in rows:
            if since is not None and at < since:
                # Newest first: nothing that follows is newer.
                return
            if until is not None and at >= until:
                continue
            if all(self._has_label(row.key, *label) for label in named) and self._has_words(row.key, words):
                yield at, row

    def _has_label(self, session_key: int, kind: int, value: bytes) -> bool:
        sql = "SELECT 1 FROM labels WHERE tenant = ? AND kind = ? AND value = ? AND session_key = ?"
        return self.connection.execute(sql, (self.tenant, kind, value, session_key)).fetchone() is not None

    def _has_words(self, session_key: int, words: frozenset[int]) -> bool:
        sql = "SELECT 1 FROM words WHERE session_key = ? AND word = ?"
        return all(self.connection.execute(sql, (session_key, word)).fetchone() is not None for word in words)


def _place(entry: tuple[int, int, SessionRow]) -> tuple[int, int]:
    return entry[0], entry[1]


def _last_position(connection: Connection, tenant: int) -> int:
    span = (event_key(tenant, 0), event_key(tenant, MAX_POSITION))
    sql = "SELECT max(event_key) FROM events WHERE event_key BETWEEN ? AND ?"
    return position_of(connection.execute(sql, span).fetchone()[0] or 0)


def _text(instant_us: int) -> str:
    return utc_text(_EPOCH + timedelta(microseconds=min(instant_us, _LAST_US)))
