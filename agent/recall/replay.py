"""Replays of stored events: each rebuilt from its own inputs and compared, and what came of many of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final, NamedTuple, Unpack

from agent.core.replay import NOT_JSON, Reason, Replay, Verdict, replay
from agent.errors import StoreDamaged, StoreNotFound, StoreWriteError
from agent.ruvector.feed import FedEvent
from agent.ruvector.parsed import ParsedEvent, ParsedPage, parsed
from agent.ruvector.reads import EventFilters, StoreReads

# Small enough that what the store remembers of the graphs that it made is still there when they are made again.
PAGE: Final = 50
# Nothing to be sorry for: such events are rebuilt by nobody, or their content was taken out on purpose.
_TO_BE_EXPECTED: Final = frozenset({Reason.ERASED, Reason.NO_INPUTS, Reason.NOT_OURS, Reason.OTHER_WRITER})


class Replayed(NamedTuple):
    """A stored event, by the names that it has, and how its replay ended."""

    execution_ref: str | None
    position: int | None
    replay: Replay


@dataclass(slots=True)
class Replays:
    """What came of many replays."""

    events: int = 0
    differences: int = 0
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    reasons: Counter[Reason] = field(default_factory=Counter)

    def add(self, found: Replay) -> None:
        self.events += 1
        self.verdicts[found.verdict] += 1
        self.differences += len(found.differences)
        if found.reason is not None:
            self.reasons[found.reason] += 1

    @property
    def is_whole(self) -> bool:
        """Whether every event was judged that this release could be expected to judge."""
        return _TO_BE_EXPECTED.issuperset(self.reasons)


def replayed(event: FedEvent) -> Replayed:
    """One event, from its very bytes."""
    return Replayed(event.execution_ref, event.position, _replay(event.text))


def _replay(text: bytes) -> Replay:
    envelope = parsed(text)
    return NOT_JSON if envelope is None else replay(envelope, exact_numbers=True)


def _sketch_replayed(event: ParsedEvent) -> Replay:
    """As ``replayed``; most events are as they should be, and their sketch shows it."""
    if event.sketch is not None:
        found = replay(event.sketch, exact_numbers=True)
        if found.verdict is not Verdict.DIFFERS:
            return found
    return _replay(event.text)


class Verification(Iterator[Replayed]):
    """One walk along the events of a store, each replayed, with one page in memory at a time.

    Without filters it is the feed, which has the events of all writers. Raises as ``StoreReads`` does, in the middle
    too, and StoreWriteError where the store's pages do not advance. ``is_open``, known at the end: the store does not
    say whether there are more. ``highest`` is the last position of the pages that are done with, ``cursor`` where they
    end; ``after`` is that of an earlier walk.

    ``damaged`` is told of each event that the store cannot read and says how to go on behind; without it such an event
    is raised as any other failure.
    """

    def __init__(
        self,
        reads: StoreReads,
        *,
        after: str | None = None,
        damaged: Callable[[StoreDamaged], None] | None = None,
        **which: Unpack[EventFilters],
    ) -> None:
        self._reads = reads
        self._which = which
        self._damaged = damaged
        self._walk = self._replayed()
        self.cursor = after
        self.highest = -1
        self.is_open = False

    def __next__(self) -> Replayed:
        return next(self._walk)

    def _replayed(self) -> Iterator[Replayed]:
        cursors = {self.cursor}
        while True:
            try:
                page = self._page(self.cursor)
            except StoreDamaged as error:
                if self._damaged is None or error.next_cursor is None:
                    raise
                self._damaged(error)
                self._go_on(error.next_cursor, cursors, [] if error.position is None else [error.position])
                continue
            self.is_open = page.is_open
            if page.is_empty:
                return
            positions = []
            for event in _events(page):
                yield Replayed(event.execution_ref, event.position, _sketch_replayed(event))
                if event.position is not None:
                    positions.append(event.position)
            if page.next_cursor is None:
                return
            self._go_on(page.next_cursor, cursors, positions)

    def _go_on(self, cursor: str, cursors: set[str | None], positions: list[int]) -> None:
        if cursor in cursors or (positions and max(positions) <= self.highest):
            raise StoreWriteError("the store's pages do not advance", upstream_status=HTTPStatus.OK)
        cursors.add(cursor)
        self.cursor = cursor
        self.highest = max((self.highest, *positions))

    def _page(self, cursor: str | None) -> ParsedPage:
        try:
            if self._which:
                return self._reads.parsed_events(limit=PAGE, cursor=cursor, **self._which)
            return self._reads.parsed_feed(cursor, limit=PAGE)
        except StoreNotFound as error:
            raise StoreNotFound("this store has no list of events", details=error.details) from error


def _events(page: ParsedPage) -> Iterator[ParsedEvent]:
    try:
        yield from page.events()
    except ValueError:
        message = "the store answered 200 with something that is not a page of events"
        raise StoreWriteError(message, upstream_status=HTTPStatus.OK) from None
