"""Positions of a store's log where its feed shows no event: erased, left empty by a restore, or lost.

An append and an erasure each take the next position, and the feed shows events only (CONTRACT 10). So what is missing
between two events is an erasure, or lost. Our store's audit says where each erasure stands and what a restore left
behind. An older one only counts erasures, those in what a restore left behind too: then what is lost is told as far as
there are more gaps than erasures. A session's ``version`` is the position of its last change: the highest says that the
log once reached so far. An event that stood at its end and is of no session leaves no trace to see.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice
from typing import Final, NamedTuple

from agent.cli.memory.checking.findings import Finding
from agent.errors import StoreDamaged, StoreNotFound, StoreWriteError
from agent.ruvector.models import AuditEntry
from agent.ruvector.reads import StoreReads

Run = tuple[int, int]

_PAGE: Final = 1000
_NAMED: Final = 10
_ERASE: Final = "erase_"
_RESTORE: Final = "restore"
# Behind all positions.
_NO_MORE: Final[Run] = (2**63, 2**63)
# The end of the backup, and the last position before which nothing is given out again.
_SPAN: Final = re.compile(r"([0-9]{1,13})-([0-9]{1,13})\Z", re.ASCII)


@dataclass(slots=True)
class SeenPositions:
    """The positions of a feed as they come. ``are_told``: each event has one, above that of the event before."""

    last: int = 0
    are_told: bool = True
    _ends: array[int] = field(default_factory=lambda: array("q"))

    def see(self, position: int | None) -> None:
        """Take the position of the next event."""
        if position is None or position <= self.last:
            self.are_told = False
            return
        self.reach(position - 1)
        self.last = position

    def reach(self, position: int) -> None:
        """Nothing stands between the last event and ``position``, that one included."""
        if position > self.last:
            self._ends.extend((self.last + 1, position))
            self.last = position

    @property
    def has_runs(self) -> bool:
        return bool(self._ends)

    def runs(self) -> Iterator[Run]:
        """The first and last position of each run without an event."""
        return zip(self._ends[::2], self._ends[1::2], strict=True)


class Empty(NamedTuple):
    """What of the positions without an event is lost; ``unexplained``: so many may be erasures or lost."""

    findings: tuple[Finding, ...] = ()
    unexplained: int = 0


def newest_version(reads: StoreReads) -> int:
    """The highest version of all sessions; 0 where there is none, or the store does not list them.

    Raises StoreDamaged where it cannot read them.
    """
    highest, cursor, cursors = 0, None, set[str]()
    while True:
        try:
            page = reads.sessions(limit=_PAGE, cursor=cursor)
        except StoreDamaged:
            raise
        except (StoreNotFound, StoreWriteError):
            return 0
        highest = max([highest, *(row.version for row in page.sessions)])
        cursor = page.next_cursor
        if not cursor or cursor in cursors:
            return highest
        cursors.add(cursor)


def look_at_empty(reads: StoreReads, seen: SeenPositions) -> Empty:
    """Tell apart the positions without an event, as far as the store's audit may be read. Raises StoreDamaged."""
    if not seen.has_runs:
        return Empty()
    try:
        audited = _audit(reads)
    except StoreDamaged:
        raise
    except (StoreNotFound, StoreWriteError):
        return Empty(unexplained=_count(seen.runs()))
    left = list(_without(seen.runs(), audited.spans()))
    erasures = audited.unplaced
    lost = _count(left) - erasures
    if lost <= 0:
        # Fewer gaps than erasures: some of these stand where nothing shows, and each gap may be something else.
        return Empty(unexplained=_count(left) if lost else 0)
    if not erasures:
        return Empty(tuple(Finding.lost(*run) for run in left))
    detail = f"no event and no erasure stands in {lost} of these, or more"
    return Empty((Finding("lost_position", _named(left), detail),))


@dataclass(slots=True)
class _Audited:
    """What an audit says of positions: those of erasures, how many have none, and which restores left behind."""

    placed: array[int] = field(default_factory=lambda: array("q"))
    unplaced: int = 0
    restored: list[Run] = field(default_factory=list)

    def add(self, entry: AuditEntry) -> None:
        if entry.action.startswith(_ERASE):
            if entry.position is None or not 0 < entry.position < _NO_MORE[0]:
                self.unplaced += 1
            else:
                self.placed.append(entry.position)
        span = _SPAN.match(entry.subject) if entry.action == _RESTORE else None
        if span is not None and int(span[1]) < int(span[2]):
            self.restored.append((int(span[1]) + 1, int(span[2])))

    def spans(self) -> Iterator[Run]:
        """All that is not lost, by where it begins."""
        return merge(sorted(self.restored), ((at, at) for at in sorted(self.placed)))


def _audit(reads: StoreReads) -> _Audited:
    found, after = _Audited(), 0
    while True:
        page = reads.audit(after=after, limit=_PAGE)
        for entry in page.audit:
            found.add(entry)
        if page.next_after is None or page.next_after <= after:
            return found
        after = page.next_after


def _without(runs: Iterable[Run], spans: Iterator[Run]) -> Iterator[Run]:
    """What of ``runs`` lies in none of ``spans``; both by where they begin."""
    begin, end = next(spans, _NO_MORE)
    for first, last in runs:
        start = first
        while begin <= last:
            if start < begin:
                yield start, begin - 1
            start = max(start, end + 1)
            if end > last:
                break
            begin, end = next(spans, _NO_MORE)
        if start <= last:
            yield start, last


def _count(runs: Iterable[Run]) -> int:
    return sum(last - first + 1 for first, last in runs)


def _named(runs: list[Run]) -> str:
    some = ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in islice(runs, _NAMED))
    return f"positions {some}" + (f" and {len(runs) - _NAMED} more runs" if len(runs) > _NAMED else "")
