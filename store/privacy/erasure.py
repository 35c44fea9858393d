"""Erasure of a session, a turn or a user (CONTRACT 10a): what belongs to it, its receipt, and the ledger of erasures.

An erasure is one transaction and takes the next position. It is written down by its subject's key, a digest for a user,
so that it can be applied again to a backup that does not know it yet (``reapply``).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from agent.core.timestamps import utc_text
from store.engines.engine import Connection
from store.engines.schema import event_key
from store.errors import Conflict, NotFound
from store.lists import labels
from store.log.append import next_position
from store.log.identifiers import unpacked
from store.log.turn_rows import BURY
from store.port import Actor, Erased
from store.privacy import audit
from store.privacy.emptied import without_payload
from store.privacy.session_erasure import WHOLE, SessionErasure, read_body, write_body

SESSION: Final = "session"
TURN: Final = "turn"
USER: Final = "user"

_SESSION_KEY: Final = "SELECT session_key FROM sessions WHERE session_id = ? AND tenant = ?"
# Once for each session of the tenant, or a scan of the whole index, as the engine likes: turns have no index by id
# alone, which each append would pay for.
_SESSIONS_WITH_TURN: Final = """
SELECT turns.session_key FROM sessions JOIN turns ON turns.session_key = sessions.session_key
WHERE turns.turn_id = ? AND sessions.tenant = ? AND sessions.version > 0 ORDER BY turns.session_key
"""
_USER: Final = "SELECT 1 FROM events WHERE tenant = ? AND user_digest = ? LIMIT 1"
_EVENTS_OF_USER: Final = """
SELECT session_key, event_key FROM events WHERE tenant = ? AND user_digest = ? AND erased <> ? ORDER BY event_key
"""
_INSERT: Final = """
INSERT INTO erasures (erasure_key, tenant, kind, subject, key_name, at_us, sessions, turns, events)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_NO_SUCH: Final = {
    SESSION: "no session has this id",
    TURN: "no turn has this id",
    USER: "no event names this user",
}


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be erased. ``key`` is an id as 16 bytes, or the digest of a user's name."""

    kind: str
    key: bytes

    @classmethod
    def user(cls, user_id: str) -> Subject:
        return cls(USER, labels.digest(user_id))

    @property
    def name(self) -> str:
        """As audit rows name it: an id, or the digest in hex, never the name of a user."""
        return self.key.hex() if self.kind == USER else unpacked(self.key)


@dataclass(frozen=True, slots=True)
class Done:
    """An erasure that was applied: its position, and counts of what it emptied."""

    kind: str
    position: int
    sessions: int = 0
    turns: int = 0
    events: int = 0

    def receipt(self, actor: Actor, *, files: str) -> Erased:
        return Erased(
            kind=self.kind,
            position=self.position,
            sessions=self.sessions,
            turns=self.turns,
            events=self.events,
            at=utc_text(actor.at),
            key_name=actor.key_name,
            files=files,
        )


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """An erasure as another database has it."""

    subject: Subject
    position: int
    at: datetime
    key_name: str


def erase(connection: Connection, tenant: int, subject: Subject, actor: Actor) -> Done:
    """Erase ``subject`` and write down who did. Raises NotFound."""
    if not _is_known(connection, tenant, subject):
        raise NotFound(_NO_SUCH[subject.kind])
    return _apply(connection, tenant, subject, next_position(connection, tenant), actor)


def reapply(connection: Connection, tenant: int, row: LedgerRow) -> Done | None:
    """Apply an erasure of another database here, at the position that it has there; None where it is here already.

    A subject that is unknown here is written down all the same. Raises Conflict where the position holds something
    else: then this log is no earlier state of that one.
    """
    key = event_key(tenant, row.position)
    there = connection.execute("SELECT kind, subject FROM erasures WHERE erasure_key = ?", (key,)).fetchone()
    if there is not None and Subject(there[0].decode(), bytes(there[1])) == row.subject:
        return None
    taken = connection.execute("SELECT 1 FROM events WHERE event_key = ?", (key,)).fetchone()
    if there is not None or taken is not None:
        raise Conflict(f"position {row.position} holds something else than the erasure that is to be applied there")
    return _apply(connection, tenant, row.subject, row.position, Actor(row.key_name, row.at))


def _is_known(connection: Connection, tenant: int, subject: Subject) -> bool:
    sql, values = {
        SESSION: (_SESSION_KEY, (subject.key, tenant)),
        TURN: (_SESSIONS_WITH_TURN, (subject.key, tenant)),
        USER: (_USER, (tenant, subject.key)),
    }[subject.kind]
    return connection.execute(sql, values).fetchone() is not None


def _apply(connection: Connection, tenant: int, subject: Subject, position: int, actor: Actor) -> Done:
    empty = {SESSION: _empty_session, TURN: _empty_turn, USER: _empty_user}[subject.kind]
    done = empty(connection, tenant, subject.key, position)
    counts = (done.sessions, done.turns, done.events)
    named = (subject.kind.encode(), subject.key, actor.key_name.encode(), audit.microseconds(actor.at))
    connection.execute(_INSERT, (event_key(tenant, position), tenant, *named, *counts))
    audit.write(connection, tenant, actor, f"erase_{subject.kind}", subject.name)
    return done


def _empty_session(connection: Connection, tenant: int, session_id: bytes, position: int) -> Done:
    row = connection.execute(_SESSION_KEY, (session_id, tenant)).fetchone()
    if row is None:
        return Done(SESSION, position)
    session = SessionErasure(connection, tenant, row[0], position)
    emptied = session.empty(session.all_turns(), session.full_events(), is_all=True)
    return Done(SESSION, position, int(emptied.any()), emptied.turns, emptied.events)


def _empty_turn(connection: Connection, tenant: int, turn_id: bytes, position: int) -> Done:
    sessions = turns = events = 0
    for (session_key,) in connection.execute(_SESSIONS_WITH_TURN, (turn_id, tenant)).fetchall():
        emptied = SessionErasure(connection, tenant, session_key, position).empty([turn_id], (), is_all=False)
        sessions += emptied.any()
        turns += emptied.turns
        events += emptied.events
    # Also where no session has it: it may come later.
    connection.execute(BURY, (turn_id, tenant))
    return Done(TURN, position, sessions, turns, events)


def _empty_user(connection: Connection, tenant: int, user: bytes, position: int) -> Done:
    without_session: list[int] = []
    by_session: dict[int, list[int]] = {}
    rows: list[Any] = connection.execute(_EVENTS_OF_USER, (tenant, user, WHOLE)).fetchall()
    for session_key, key in rows:
        (without_session if session_key is None else by_session.setdefault(session_key, [])).append(key)
    for key in without_session:
        _, body = read_body(connection, key)
        write_body(connection, key, body, without_payload(body), WHOLE)
    turns, events = 0, len(without_session)
    for session_key, keys in by_session.items():
        session = SessionErasure(connection, tenant, session_key, position)
        emptied = session.empty(session.brought(keys), frozenset(keys), is_all=False)
        turns += emptied.turns
        events += emptied.events
    return Done(USER, position, len(by_session), turns, events)
