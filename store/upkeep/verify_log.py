"""The log of one tenant: each position up to the last is an event or an erasure, and events of no session are whole.

A position is also told as lost where nothing but an event's keys still remember it. What a restore left
behind (store.upkeep.backup) is not lost: its audit row says up to which position the backup did not reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from store.engines.engine import Connection, Engine
from store.engines.schema import MAX_POSITION, event_key, position_of
from store.errors import DamagedDatabase
from store.privacy.restored_spans import Restored, restored_spans
from store.upkeep.verify_event import EventChecks
from store.upkeep.verify_tally import Finding, Tally, Tenant
from store.upkeep.verify_units import each_apart

_ROWS_AT_ONCE: Final = 1000
_EVENTS: Final = """
SELECT event_key, session_key IS NULL FROM events WHERE event_key > ? AND event_key <= ? ORDER BY event_key LIMIT ?
"""
_ERASURES: Final = "SELECT erasure_key FROM erasures WHERE erasure_key > ? AND erasure_key <= ?"
_LAST: Final = """
SELECT (SELECT max(event_key) FROM events WHERE event_key BETWEEN ? AND ?),
    (SELECT max(erasure_key) FROM erasures WHERE erasure_key BETWEEN ? AND ?),
    (SELECT max(event_key) FROM event_keys WHERE event_key BETWEEN ? AND ?)
"""


def check_log(engine: Engine, tenant: Tenant, report: Callable[[Finding], None]) -> Tally:
    """Look at the log. The counts are of events that no session has; the findings were reported."""
    return _LogCheck(engine, tenant, report).run()


class _LogCheck:
    def __init__(self, engine: Engine, tenant: Tenant, report: Callable[[Finding], None]) -> None:
        self._engine = engine
        self._tenant = tenant
        self._report = report
        self._tally = Tally()

    def run(self) -> Tally:
        try:
            for keys in self._positions():
                each_apart(self._engine, keys, self._look, self._unreadable)
        except DamagedDatabase:
            self._report(Finding("unreadable", self._tenant.named("the log"), "the database cannot read all of it"))
        return self._tally

    def _positions(self) -> Iterator[list[int]]:
        """Tell the positions that are lost; gives the keys of events without a session, some at a time."""
        with self._engine.reading() as connection:
            end = _last_key(connection, self._tenant)
            walk = _Walk(restored_spans(connection, self._tenant.key), self._tenant.log_start)
        while walk.last < end:
            with self._engine.reading() as connection:
                events = connection.execute(_EVENTS, (walk.last, end, _ROWS_AT_ONCE)).fetchall()
                upto = events[-1][0] if len(events) == _ROWS_AT_ONCE else end
                erasures = connection.execute(_ERASURES, (walk.last, upto)).fetchall()
            there = sorted([*(key for key, _ in events), *(key for (key,) in erasures)])
            for first, last in walk.lost(there, upto):
                subject = self._tenant.positions(first, last)
                self._report(Finding("lost_position", subject, "no event and no erasure stands there"))
            yield [key for key, is_alone in events if is_alone]

    def _look(self, connection: Connection, key: int) -> int:
        part = Tally()
        EventChecks(connection, self._tenant, part).check(key)
        self._tally.add(part)
        for finding in part.findings:
            self._report(finding)
        return 1

    def _unreadable(self, key: int) -> None:
        self._report(Finding("unreadable", self._tenant.event(key), "the database cannot read all that is of it"))


def _last_key(connection: Connection, tenant: Tenant) -> int:
    span = (tenant.log_start, event_key(tenant.key, MAX_POSITION))
    found = connection.execute(_LAST, span * 3).fetchone()
    return max(tenant.log_start, *(key or 0 for key in found))


@dataclass(slots=True)
class _Walk:
    """Goes along the log; ``last`` is the key of the last position that was looked at."""

    restored: Restored
    last: int

    def lost(self, there: list[int], upto: int) -> Iterator[tuple[int, int]]:
        """The first and last position of each run up to ``upto`` where nothing stands; ``there`` are keys in order."""
        for key in (*there, upto + 1):
            first, last = position_of(self.last) + 1, position_of(key - 1)
            if first <= last:
                yield from self.restored.without(first, last)
            self.last = key
        self.last = upto
