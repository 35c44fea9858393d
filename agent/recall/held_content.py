"""The turns of a session as they are in the store, content included, read again by their places: few requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from agent.core.turn import SessionTurn
from agent.errors import StoreNotFound
from agent.recall.turns import PAGE
from agent.ruvector.reads import StoreReads

# Turns between two that are asked for which are rather read along than asked around.
_READ_ALONG: Final = 30


def with_content(reads: StoreReads, session_id: str, turns: Iterable[SessionTurn]) -> tuple[SessionTurn, ...]:
    """``turns`` of the session in their latest revisions; one that was erased is its skeleton, and costs nothing.

    Raises StoreNotFound for one that is not there: this is another store than the one that they came from.
    """
    asked = tuple(turns)
    missing = {turn.turn_id for turn in asked if not turn.erased}
    found = {turn.turn_id: turn for turn in asked if turn.erased}
    for first, last in _spans(sorted({turn.seq for turn in asked if not turn.erased})):
        for turn in _between(reads, session_id, first, last):
            if turn.turn_id in missing:
                found[turn.turn_id] = turn
    if len(found) < len({turn.turn_id for turn in asked}):
        raise StoreNotFound("the store has no such turn any more")
    return tuple(found[turn.turn_id] for turn in asked)


def _spans(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and last of each run of ``places``, in order, with short gaps in it."""
    start = 0
    for place in range(1, len(places) + 1):
        if place == len(places) or places[place] - places[place - 1] > _READ_ALONG:
            yield places[start], places[place - 1]
            start = place


def _between(reads: StoreReads, session_id: str, first: int, last: int) -> Iterator[SessionTurn]:
    after = first - 1
    while after < last:
        page = reads.turn_rows(session_id, after_seq=after, before_seq=last + 1, limit=min(PAGE, last - after)).turns
        if not page or page[-1].seq <= after:
            return
        yield from page
        after = page[-1].seq
