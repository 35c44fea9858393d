"""One session read from the store: all of it, or what changed since it was read last.

The session's row comes first, and says whether anything changed: an unchanged session costs this one small request.
The row's version is also what a reading is good for. Several pages are several moments, and a turn of an earlier page
may be revised while a later one is read. Whatever changes after the row was read has a version above the row's, so
who asks for what changed after *that* version misses nothing; what was there already comes a second time, and is known.
The highest version that was seen would be no such bound: another turn, of a page that was already read, may have
got a lower one meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from agent.core.session import SessionState, evolve
from agent.core.turn import SessionTurn
from agent.recall.held_light import light
from agent.recall.held_line import folded
from agent.recall.turns import PAGE, turn_pages
from agent.ruvector.models import SessionRow
from agent.ruvector.reads import StoreReads
from agent.ruvector.turn_rows import TurnRows


class Reading(NamedTuple):
    """A session as it was read, after ``row`` was. ``size`` are the bytes of its pages.

    ``is_light``: its turns are without content (``held_light``), since all of them would be more than was allowed.
    ``can_be_held``: the store says of each turn when it changed. Else nobody can ask for what changed since.
    """

    state: SessionState
    row: SessionRow
    size: int
    is_light: bool
    can_be_held: bool


def read_again(reads: StoreReads, session_id: str, last: Reading | None, *, whole_bytes: int) -> Reading:
    """The session as it is now; ``last`` itself where nothing changed since.

    Its turns are kept whole up to ``whole_bytes`` of pages. Raises StoreNotFound for one that the store never had.
    """
    row = reads.session(session_id)
    if last is None or _is_another(row, last.row):
        return _all(reads, session_id, row, whole_bytes)
    if row.version == last.row.version:
        return last
    return _changed(reads, session_id, row, last, whole_bytes)


def _is_another(row: SessionRow, last: SessionRow) -> bool:
    """Whether the session is not the one that was read, grown since: its store was restored, or made anew."""
    if row.created_at != last.created_at or row.version < last.version:
        return True
    return row.turn_count < last.turn_count or (row.version == last.version and row.turn_count > last.turn_count)


def _all(reads: StoreReads, session_id: str, row: SessionRow, whole_bytes: int) -> Reading:
    taken = _Taken(0, whole_bytes, is_light=False)
    for page in turn_pages(reads, session_id):
        taken.add(page)
        if len(page.turns) < PAGE and len(taken.turns) >= row.turn_count:
            # Every turn that the row counts is there: what came later has a version above the row's.
            break
    return taken.reading(folded(taken.turns), row)


def _changed(reads: StoreReads, session_id: str, row: SessionRow, last: Reading, whole_bytes: int) -> Reading:
    taken = _Taken(last.size, whole_bytes, is_light=last.is_light)
    new = row.turn_count - last.row.turn_count
    awaited = new
    for page in turn_pages(reads, session_id, changed_after=last.row.version):
        taken.add(page)
        if taken.is_light and not last.is_light:
            # What was counted may be revisions that are no longer there.
            return _all(reads, session_id, row, whole_bytes)
        awaited -= sum(last.state.turns.find(turn.turn_id) is None for turn in page.turns)
        if len(page.turns) < PAGE and awaited <= 0 < new:
            # New turns stand behind all others, and those that the row counts are there: so are the revised ones.
            break
    state = evolve(last.state, *_news(last.state, taken.turns))
    if len(state.turns) < row.turn_count:
        # It counts turns that nobody saw come: it is another session all the same.
        return _all(reads, session_id, row, whole_bytes)
    return taken.reading(state, row)


def _news(state: SessionState, turns: Iterable[SessionTurn]) -> Iterable[SessionTurn]:
    """Those of ``turns`` that the state does not have as they are: a turn may come twice, see above."""
    for turn in turns:
        held = state.turns.find(turn.turn_id)
        if held is None or held.version != turn.version:
            yield turn


class _Taken:
    """The turns of the pages that were read, without content as soon as ``whole_bytes`` are reached."""

    def __init__(self, size: int, whole_bytes: int, *, is_light: bool) -> None:
        self.turns: list[SessionTurn] = []
        self.is_light = is_light
        self._size = size
        self._whole_bytes = whole_bytes
        self._says_when = True

    def add(self, page: TurnRows) -> None:
        self._size += page.size
        if not self.is_light and self._size > self._whole_bytes:
            self.is_light = True
            self.turns = [light(turn) for turn in self.turns]
        self.turns += map(light, page.turns) if self.is_light else page.turns
        self._says_when = self._says_when and all(turn.version > 0 for turn in page.turns)

    def reading(self, state: SessionState, row: SessionRow) -> Reading:
        """``state``, which these turns made, with what the next reading has to know."""
        return Reading(state, row, self._size, self.is_light, self._says_when)
