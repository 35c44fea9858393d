"""``memory-graph store verify``: what of a database is not as it was acknowledged, found and named.

Every event is opened, its hash recomputed and its graph made again; every position, turn, session and key is looked
for from both sides. Reads in batches, each in a transaction of its own, and writes nothing: it may run beside a server.
What the words of the search index say is not looked at (``store.lists.search`` makes them again), and what other
writers call nodes and edges is their own affair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from store.engines.engine import Connection
from store.errors import DamagedDatabase
from store.log.event_store import EventStore
from store.upkeep.verify_event import EventChecks
from store.upkeep.verify_indexes import check_indexes
from store.upkeep.verify_log import check_log
from store.upkeep.verify_session import SessionCheck
from store.upkeep.verify_tally import Finding, Tally, Tenant
from store.upkeep.verify_units import each_apart

__all__ = ["Checked", "Finding", "verify"]

_SESSIONS_AT_ONCE: Final = 500
_MESSAGES: Final = 100
# The next session that anything is of: its row, an event or a turn.
_NEXT_SESSION: Final = """
SELECT min(session_key) FROM (
    SELECT min(session_key) AS session_key FROM sessions WHERE session_key > ?
    UNION ALL SELECT min(session_key) FROM events WHERE session_key > ?
    UNION ALL SELECT min(session_key) FROM turns WHERE session_key > ?
) AS found
"""
_NEXT_TENANT: Final = "SELECT min(tenant) FROM events WHERE tenant > ?"


@dataclass(frozen=True, slots=True)
class Checked:
    """What was looked at. ``erased`` events have no hash to recompute; ``without_hash`` ones never said any."""

    events: int
    turns: int
    sessions: int
    erased: int
    findings: int
    without_hash: int


def verify(store: EventStore, report: Callable[[Finding], None]) -> Checked:
    """Look at all tenants; ``report`` gets each finding as it is made, the cause before what follows from it."""
    return _Verification(store, report).run()


class _Verification:
    def __init__(self, store: EventStore, report: Callable[[Finding], None]) -> None:
        self._engine = store.engine
        self._to = report
        self._findings = 0
        self._tally = Tally()

    def run(self) -> Checked:
        self._check_file()
        tenants = self._tenants()
        for tenant in tenants:
            self._tally.add(check_log(self._engine, tenant, self._report))
        self._check_sessions()
        for tenant in tenants:
            with self._told(tenant.named("keys and labels")):
                check_indexes(self._engine, tenant, self._report)
        tally = self._tally
        return Checked(
            events=tally.events,
            turns=tally.turns,
            sessions=tally.sessions,
            erased=tally.erased,
            findings=self._findings,
            without_hash=tally.without_hash,
        )

    @contextmanager
    def _told(self, subject: str) -> Iterator[None]:
        """Tell that the database cannot read all of ``subject``, and go on."""
        try:
            yield
        except DamagedDatabase:
            self._report(Finding("unreadable", subject, "the database cannot read all of it"))

    def _report(self, finding: Finding) -> None:
        self._findings += 1
        self._to(finding)

    def _check_file(self) -> None:
        """What SQLite itself finds wrong with its pages and indexes; it names tables, pages and rows."""
        if self._engine.kind != "embedded":
            return
        try:
            with self._engine.reading() as connection:
                rows = connection.execute(f"PRAGMA integrity_check({_MESSAGES})").fetchall()
        except DamagedDatabase as error:
            rows = [(error.message,)]
        for (message,) in rows:
            if message != "ok":
                self._report(Finding("damaged_file", "the database file", message))

    def _tenants(self) -> list[Tenant]:
        """All tenants, also one whose row is lost while its events are there."""
        found: dict[int, Tenant] = {}
        with self._told("the tenants"), self._engine.reading() as connection:
            for key, name in connection.execute("SELECT tenant, name FROM tenants ORDER BY tenant"):
                found[key] = Tenant(key, name.decode(errors="replace"))
        with self._told("the events"), self._engine.reading() as connection:
            named: int | None = 0
            while named is not None:
                (named,) = connection.execute(_NEXT_TENANT, (named,)).fetchone()
                if named is not None and named not in found:
                    # Perhaps it wrote its first event since the tenants were read.
                    found[named] = Tenant.read(connection, named)
                    if found[named].is_lost:
                        self._report(Finding("lost_tenant", f"tenant number {named}", "it has events, and no row"))
        return list(found.values())

    def _check_sessions(self) -> None:
        last = 0
        while True:
            keys: list[int] = []
            with self._told("the sessions"), self._engine.reading() as connection:
                keys += _next_sessions(connection, last)
            each_apart(self._engine, keys, self._check_session, self._check_events_alone)
            if len(keys) < _SESSIONS_AT_ONCE:
                return
            last = keys[-1]

    def _check_session(self, connection: Connection, key: int) -> int:
        check = SessionCheck(connection, key)
        rows = check.run()
        self._keep(check.tally)
        return rows

    def _check_events_alone(self, session_key: int) -> None:
        """Tell which events of a session can be read, where not all of it can."""
        try:
            with self._engine.reading() as connection:
                check = SessionCheck(connection, session_key)
                keys = list(check.event_keys())
        except DamagedDatabase:
            subject = f"session number {session_key}"
            self._report(Finding("unreadable", subject, "the database can read neither its row nor its events"))
            return
        self._report(Finding("unreadable", check.name, "the database cannot read all of its rows"))

        def look(connection: Connection, key: int) -> int:
            tally = Tally()
            EventChecks(connection, check.tenant, tally, session_key, check.session_id).check(key)
            self._keep(tally)
            return 1

        def unreadable(key: int) -> None:
            self._report(Finding("unreadable", check.tenant.event(key), "the database cannot read all that is of it"))

        each_apart(self._engine, keys, look, unreadable)

    def _keep(self, tally: Tally) -> None:
        """Take the counts and the findings of what could be looked at whole."""
        self._tally.add(tally)
        for finding in tally.findings:
            self._report(finding)


def _next_sessions(connection: Connection, last: int) -> Iterator[int]:
    for _ in range(_SESSIONS_AT_ONCE):
        (key,) = connection.execute(_NEXT_SESSION, (last,) * 3).fetchone()
        if key is None:
            return
        yield key
        last = key
