"""One session read from the store: all of it, or what changed since it was read last.

The session's row comes first, and says whether anything changed: an unchanged session costs this one small request.
The row's version is also what a reading is good for. Several pages are several moments, and a turn of an earlier page
may be revised while a later one is read. Whatever changes after the row was read has a version above the row's, so
who asks for what changed after *that* version misses nothing; what was there already comes a second time, and is known.
The highest version that was seen would be no such bound: another turn, of a page that was already read, may have
got a lower one meanwhile.

What changed after a version says nothing of a store that was restored from a backup and has grown past it since: what
is held would be continued by turns of another history. So a turn of the last change, the witness, is asked for again
with what changed. A log has one event at a position: where the witness comes as it is held, all before it is what was
read. Where it does not, or anything else comes that does not follow from what is held, all is read anew. A turn is so
fetched once more, with the change that follows.

Two stores are not seen through: one that has the same events in another order, but for one in its old place; and one
whose row of the session came out the same to the letter, as when another turn was erased at the same position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import NamedTuple

from agent.core.session import SessionState, evolve, fold
from agent.core.turn import SessionTurn
from agent.errors import StoreWriteError
from agent.recall.held_light import light
from agent.recall.turns import PAGE, turn_pages
from agent.ruvector.models import SessionRow
from agent.ruvector.reads import StoreReads
from agent.ruvector.turn_rows import TurnRows


class Witness(NamedTuple):
    """A turn that tells histories apart, and ``since``, the held turns that changed after it did.

    It is not erased: then its version is the position of the event that it names, which no other history has there.
    """

    turn: SessionTurn
    since: frozenset[str]


class Reading(NamedTuple):
    """A session as it was read, after ``row`` was. ``size`` are the bytes of its pages.

    ``is_light``: its turns are without content (``held_light``), since all of them would be more than was allowed.
    ``can_be_held``: the store says of each turn when it changed. Else nobody can ask for what changed since.
    ``is_ahead``: some of its turns changed after the row was read.
    """

    state: SessionState
    row: SessionRow
    size: int
    is_light: bool
    can_be_held: bool
    is_ahead: bool
    witness: Witness | None


class _Asked(NamedTuple):
    """A session that is to be read, after its ``row`` was; whole up to ``whole_bytes`` of pages."""

    reads: StoreReads
    session_id: str
    row: SessionRow
    whole_bytes: int


def read_again(reads: StoreReads, session_id: str, last: Reading | None, *, whole_bytes: int) -> Reading:
    """The session as it is now; ``last`` itself where nothing changed since.

    Its turns are kept whole up to ``whole_bytes`` of pages. Raises StoreNotFound for one that the store never had,
    StoreWriteError for one of which the store has fewer turns than its row counts.
    """
    asked = _Asked(reads, session_id, reads.session(session_id), whole_bytes)
    if last is None or _is_another(asked.row, last):
        return _all(asked)
    # Where some of it came after the row was read, the row has changed since, unless the store was put back to it.
    if asked.row == last.row and not last.is_ahead:
        return last
    return _changed(asked, last) or _all(asked)


def _is_another(row: SessionRow, last: Reading) -> bool:
    """Whether the session is not the one that was read, grown since: its store was restored, or made anew."""
    if row.created_at != last.row.created_at or row.version < last.row.version:
        return True
    return row.turn_count < len(last.state.turns)


def _all(asked: _Asked) -> Reading:
    taken = _Taken(0, asked.whole_bytes, is_light=False)
    for page in turn_pages(asked.reads, asked.session_id):
        taken.add(page)
        if len(page.turns) < PAGE and len(taken.turns) >= asked.row.turn_count:
            # Every turn that the row counts is there: what came later has a version above the row's.
            break
    if len(taken.turns) < asked.row.turn_count:
        # A part of a history would pass for all of it.
        raise StoreWriteError("the store has fewer turns than its session counts", upstream_status=HTTPStatus.OK)
    return taken.reading(fold(taken.turns), asked.row, None)


def _changed(asked: _Asked, last: Reading) -> Reading | None:
    """``last`` with what changed since; None where that is in doubt, or too much to be held whole."""
    witness = last.witness
    taken = None if witness is None else _since(asked, last, witness, is_seen=False)
    if taken is not None and witness is not None and witness.turn.turn_id in taken.names():
        # It changed itself, and proves nothing. Another has to, which is looked at alone: many may have come with it.
        changed = taken.names()
        others = [turn for turn in last.state.turns if turn.turn_id not in changed]
        witness = _witness(others, [turn.version for turn in others], last.row.version)
        is_seen = witness is not None and _is_there(asked, witness.turn)
        taken = None if witness is None or not is_seen else _since(asked, last, witness, is_seen=True)
    if taken is None or taken.is_light != last.is_light:
        # What was counted towards the bound may be revisions that are no longer there.
        return None
    state = evolve(last.state, *_news(last.state, taken.turns))
    # Where the row counts turns that nobody saw come, it is another session all the same.
    return None if len(state.turns) < asked.row.turn_count else taken.reading(state, asked.row, witness)


def _is_there(asked: _Asked, turn: SessionTurn) -> bool:
    """Whether the store has ``turn`` as it is held."""
    place = turn.seq
    found = asked.reads.turn_rows(asked.session_id, after_seq=place - 1, before_seq=place + 1, limit=1).turns
    return [_place(each) for each in found] == [_place(turn)]


def _since(asked: _Asked, last: Reading, witness: Witness, *, is_seen: bool) -> _Taken | None:
    """What changed since ``last``; None where the store has not what is held. ``is_seen``: it has the witness."""
    taken = _Taken(last.size, asked.whole_bytes, is_light=last.is_light)
    held = last.state.turns
    awaited = new = asked.row.turn_count - len(held)
    missing = set(witness.since) if is_seen else {witness.turn.turn_id, *witness.since}
    after = witness.turn.version - (not is_seen)
    for page in turn_pages(asked.reads, asked.session_id, changed_after=after):
        if not all(_may_follow(last, turn) for turn in page.turns):
            return None
        missing.difference_update(turn.turn_id for turn in page.turns)
        later = tuple(turn for turn in page.turns if turn.version > last.row.version)
        taken.add(TurnRows(later, page.size * len(later) // len(page.turns)))
        awaited -= sum(held.find(turn.turn_id) is None for turn in later)
        if len(page.turns) < PAGE and awaited <= 0 < new:
            # New turns stand behind all others, and those that the row counts are there: so are the revised ones.
            break
    return None if missing else taken


def _may_follow(last: Reading, turn: SessionTurn) -> bool:
    """Whether the store of ``last`` may have ``turn`` now: as it is held, changed since, or new behind all others."""
    held = last.state.turns.find(turn.turn_id)
    if held is not None and held.version == turn.version:
        return _place(held) == _place(turn)
    if turn.version <= last.row.version:
        return False
    return turn.seq > last.state.turns[-1].seq if held is None else turn.seq == held.seq and turn.version > held.version


def _place(turn: SessionTurn) -> tuple[object, ...]:
    """Where a turn stands in session and log: another history has something of it otherwise."""
    return turn.turn_id, turn.seq, turn.version, turn.captured_at, turn.fields.get("execution_ref"), turn.erased


def _witness(turns: Sequence[SessionTurn], versions: Sequence[int], version: int) -> Witness | None:
    """Of ``turns``, which have ``versions``, one that changed last up to ``version``."""
    newest = max(versions, default=0)
    place = versions.index(newest) if turns else None
    if place is not None and (newest > version or turns[place].erased):
        # Some came while the others were read, or were erased.
        there = [each for each, turn in enumerate(turns) if versions[each] <= version and not turn.erased]
        place = max(there, key=versions.__getitem__, default=None)
    if place is None:
        return None
    after = frozenset(turn.turn_id for turn, its in zip(turns, versions, strict=True) if its > versions[place])
    return Witness(turns[place], after)


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
        self._versions: list[int] = []

    def names(self) -> set[str]:
        return {turn.turn_id for turn in self.turns}

    def add(self, page: TurnRows) -> None:
        self._size += page.size
        if not self.is_light and self._size > self._whole_bytes:
            self.is_light = True
            self.turns = [light(turn) for turn in self.turns]
        self.turns += map(light, page.turns) if self.is_light else page.turns
        self._versions += [turn.version for turn in page.turns]

    def reading(self, state: SessionState, row: SessionRow, witness: Witness | None) -> Reading:
        """``state``, which these turns made, with what the next reading has to know.

        One of them is its witness; where none can be it is ``witness``, after which all of them changed.
        """
        found = _witness(self.turns, self._versions, row.version)
        if found is None and witness is not None:
            found = witness._replace(since=witness.since.union(self.names()))
        says_when = min(self._versions, default=1) > 0
        is_ahead = max(self._versions, default=0) > row.version
        return Reading(state, row, self._size, self.is_light, says_when, is_ahead, found)
