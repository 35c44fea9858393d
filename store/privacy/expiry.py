"""Retention: erases the sessions whose last capture is too long ago, one after the other, the oldest first.

Each is an erasure like any other (store.privacy.erasure), with its own transaction, position and receipt. What was
erased is not found again, so a run that was stopped anywhere is gone on with by the next. A session that events name
and no capture made is in no list and has no last activity: it is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from store.engines.engine import Connection
from store.engines.schema import MAX_SEQ, turn_key
from store.log.event_store import EventStore
from store.log.identifiers import unpacked
from store.port import Actor
from store.privacy import erasure
from store.privacy.session_erasure import WHOLE

_EARLIEST_US: Final = -(2**62)

# sessions.erased spares a look at most of what was erased before; events tell it for certain.
_IDLE: Final = """
SELECT session_key, session_id, activity_us FROM sessions
WHERE tenant = ? AND version > 0 AND activity_us < ? AND activity_us >= ? AND (activity_us > ? OR session_key > ?)
    AND erased = 0 AND EXISTS (
        SELECT 1 FROM events WHERE events.session_key = sessions.session_key AND events.erased <> ?
    )
ORDER BY activity_us, session_key LIMIT ?
"""
_IS_IDLE: Final = "SELECT 1 FROM sessions WHERE session_key = ? AND activity_us < ?"
_FULL_TURNS: Final = "SELECT count(*) FROM turns WHERE turn_key BETWEEN ? AND ? AND erased = 0"


@dataclass(frozen=True, slots=True)
class Expired:
    """A session that was erased, or would be; ``turns`` are those that had content."""

    session_id: str
    turns: int


def expire(
    store: EventStore, *, before_us: int, actor: Actor, dry_run: bool, batch: int, tenant: str | None = None
) -> Iterator[Expired]:
    """Erase what had no activity since ``before_us``; gives each session when it is erased.

    ``batch`` sessions are looked up at once, and the files rewritten after as many. ``tenant`` None: all tenants.
    """
    for name, key in _tenants(store):
        if tenant is None or name == tenant:
            yield from _Expiry(store, key, before_us, actor).run(batch, dry_run=dry_run)


def _tenants(store: EventStore) -> list[tuple[str, int]]:
    with store.engine.reading() as connection:
        rows = connection.execute("SELECT name, tenant FROM tenants ORDER BY tenant").fetchall()
    return [(name.decode(), key) for name, key in rows]


@dataclass(frozen=True, slots=True)
class _Idle:
    key: int
    session_id: bytes
    activity_us: int


@dataclass(frozen=True, slots=True)
class _Expiry:
    store: EventStore
    tenant: int
    before_us: int
    actor: Actor

    def run(self, batch: int, *, dry_run: bool) -> Iterator[Expired]:
        last = _Idle(0, b"", _EARLIEST_US)
        while idle := self._idle(last, batch):
            yield from self._counted(idle) if dry_run else self._erased(idle)
            last = idle[-1]

    def _idle(self, last: _Idle, batch: int) -> list[_Idle]:
        """The oldest sessions behind ``last``."""
        values = (self.tenant, self.before_us, last.activity_us, last.activity_us, last.key, WHOLE, batch)
        with self.store.engine.reading() as connection:
            return [_Idle(*row) for row in connection.execute(_IDLE, values).fetchall()]

    def _counted(self, idle: list[_Idle]) -> Iterator[Expired]:
        with self.store.engine.reading() as connection:
            found = [Expired(unpacked(each.session_id), _full_turns(connection, each)) for each in idle]
        yield from found

    def _erased(self, idle: list[_Idle]) -> Iterator[Expired]:
        try:
            for each in idle:
                done = self._erase(each)
                if done is not None:
                    yield done
        finally:
            # Also where the caller stops between two: what is erased is to leave the files.
            self.store.rewrite_files()

    def _erase(self, session: _Idle) -> Expired | None:
        """None where the session became active meanwhile: its new capture is not what expires."""
        with self.store.engine.writing() as connection:
            if connection.execute(_IS_IDLE, (session.key, self.before_us)).fetchone() is None:
                return None
            subject = erasure.Subject(erasure.SESSION, session.session_id)
            done = erasure.erase(connection, self.tenant, subject, self.actor)
        return Expired(unpacked(session.session_id), done.turns)


def _full_turns(connection: Connection, session: _Idle) -> int:
    keys = (turn_key(session.key, 1), turn_key(session.key, MAX_SEQ))
    return int(connection.execute(_FULL_TURNS, keys).fetchone()[0])
