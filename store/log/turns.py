"""Which turns of a payload are known, new or revised, and where a new one goes: ``seq``, parent, leaf (CONTRACT 10).

No SQL: the session is seen through ``SessionRows``, and what is to be written is left in a ``Placement``.

The cost is that of the payload, not of the session. Two questions would need a walk up a path: would this parent make
the turn its own ancestor, and does the current leaf's path wait for a turn of this payload? Both ask what a path waits
for at its upper end: a parent that is not there. Each turn keeps that id (``waits_for``, None where the path ends in a
root, which never changes). When the awaited turn comes, the answer is looked up through it, and shortened on the way
(path compression, as in union-find). A parent in another session is one that is not there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from store.log.capture import SentTurn


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn's row, without its body."""

    seq: int
    turn_id: bytes
    conversation_id: bytes
    waits_for: bytes | None
    is_leaf: bool
    body_sha256: bytes
    narrowness: int
    revision_position: int
    own_index: int
    lower_case: bool
    is_user: bool
    instant_us: int | None
    tokens: int | None
    erased: bool


class SessionRows(Protocol):
    """The session as it was before the append."""

    def turn(self, turn_id: bytes) -> StoredTurn | None:
        """The turn, if the session has it."""

    def current_leaf(self, conversation_id: bytes) -> bytes | None:
        """The current leaf of a conversation; None for a conversation without turns."""

    def awaiting(self, turn_id: bytes) -> set[bytes]:
        """The conversations in which turns wait for ``turn_id`` as their parent."""

    def is_tombstone(self, turn_id: bytes) -> bool:
        """Whether a turn of this id was erased, in any session."""


@dataclass(slots=True)
class PlacedTurn:
    """A turn that is new to the session. ``is_leaf``: nothing in its own conversation continues it.

    ``erased``: a turn of this id was erased before it came here, so its content is not kept (CONTRACT 10a).
    """

    sent: SentTurn
    seq: int
    parent: bytes | None
    waits_for: bytes | None
    is_leaf: bool
    erased: bool


@dataclass(slots=True)
class Placement:
    """What an append does to the turns of one session.

    ``same`` are turns that are there in the same form already; ``alike`` those that may differ in the case of ids.
    ``fuller`` are stored turns (by seq) whose very body came from a fuller event: they count as fuller from then on, or
    a narrower body of a later event would replace what is now known to be the fuller one (CONTRACT 8).
    ``kept_fuller`` counts those of the ``known`` that came with another body in a narrower mode, and stay as they are.
    """

    new: dict[bytes, PlacedTurn] = field(default_factory=dict)
    known: int = 0
    kept_fuller: int = 0
    erased: int = 0
    revised: dict[bytes, StoredTurn] = field(default_factory=dict)
    same: dict[bytes, StoredTurn] = field(default_factory=dict)
    alike: dict[bytes, StoredTurn] = field(default_factory=dict)
    fuller: list[int] = field(default_factory=list)
    # Stored turns (by seq) that got their first child in their own conversation.
    no_longer_leaves: set[int] = field(default_factory=set)
    # Parents that are not there yet, and those of earlier appends that came with this one.
    awaited: set[bytes] = field(default_factory=set)
    arrived: set[bytes] = field(default_factory=set)
    shortened: dict[bytes, bytes | None] = field(default_factory=dict)


def place(
    rows: SessionRows, sent: tuple[SentTurn, ...], *, conversation_id: bytes, narrowness: int, last_seq: int
) -> Placement:
    """Sort the turns of a payload into known, revised and new, and place the new ones after ``last_seq``."""
    placer = _Placer(rows, conversation_id, last_seq)
    first_parent = _first_parent(placer, rows, sent, conversation_id)
    before: SentTurn | None = None
    for turn in sent:
        stored = rows.turn(turn.turn_id)
        if stored is None:
            found = first_parent if before is None else before.turn_id
            placer.add(turn, turn.parent if turn.names_parent else found)
        elif stored.erased:
            placer.placement.erased += 1
            placer.placement.same[turn.turn_id] = stored
        elif turn.erased:
            # Erased elsewhere, and still here.
            placer.placement.known += 1
        elif turn.body_sha256 == stored.body_sha256:
            placer.placement.known += 1
            if turn.lower_case and stored.lower_case:
                placer.placement.same[turn.turn_id] = stored
            else:
                placer.placement.alike[turn.turn_id] = stored
            if narrowness < stored.narrowness:
                placer.placement.fuller.append(stored.seq)
        elif narrowness > stored.narrowness:
            # CONTRACT 8: a narrower body never replaces a fuller one.
            placer.placement.known += 1
            placer.placement.kept_fuller += 1
        else:
            placer.placement.revised[turn.turn_id] = stored
        before = turn
    return placer.placement


def _first_parent(
    placer: _Placer, rows: SessionRows, sent: tuple[SentTurn, ...], conversation_id: bytes
) -> bytes | None:
    """The current leaf, for a payload whose first turn is new and names no parent; see the rule in CONTRACT 10."""
    first = sent[0]
    if first.names_parent or rows.turn(first.turn_id) is not None:
        return None
    leaf = rows.current_leaf(conversation_id)
    if leaf is None or placer.end_of_path(leaf) in {turn.turn_id for turn in sent}:
        return None
    return leaf


class _Placer:
    """Places new turns one after the other; what was placed counts for the next."""

    def __init__(self, rows: SessionRows, conversation_id: bytes, last_seq: int) -> None:
        self.placement = Placement()
        self._rows = rows
        self._conversation_id = conversation_id
        self._next_seq = last_seq + 1

    def add(self, turn: SentTurn, candidate: bytes | None) -> None:
        waits_for = None if candidate is None else self.end_of_path(candidate)
        # The candidate's path ends where this turn is to stand: it would be its own ancestor.
        parent = None if waits_for == turn.turn_id else candidate
        erased = turn.erased or self._rows.is_tombstone(turn.turn_id)
        waits_for = None if parent is None else waits_for
        placed = PlacedTurn(turn, self._next_seq, parent, waits_for, self._is_leaf(turn.turn_id), erased)
        self.placement.erased += erased
        self._next_seq += 1
        if parent is not None:
            self._give_child(parent)
        self.placement.new[turn.turn_id] = placed

    def end_of_path(self, turn_id: bytes) -> bytes | None:
        """The id that the path up from ``turn_id`` waits for (itself if it is not there); None if it has a root."""
        placed = self.placement.new.get(turn_id)
        if placed is not None and placed.waits_for is None:
            return None
        passed: list[bytes] = []
        current: bytes | None = turn_id
        while current is not None:
            there, above = self._waits_for(current)
            if not there:
                break
            passed.append(current)
            current = above
        self._shorten(passed, current)
        return current

    def _waits_for(self, turn_id: bytes) -> tuple[bool, bytes | None]:
        placed = self.placement.new.get(turn_id)
        if placed is not None:
            return True, placed.waits_for
        stored = self._rows.turn(turn_id)
        if stored is None:
            return False, None
        return True, self.placement.shortened.get(turn_id, stored.waits_for)

    def _shorten(self, passed: Iterable[bytes], end: bytes | None) -> None:
        for turn_id in passed:
            placed = self.placement.new.get(turn_id)
            if placed is not None:
                placed.waits_for = end
            elif self._waits_for(turn_id)[1] != end:
                self.placement.shortened[turn_id] = end

    def _is_leaf(self, turn_id: bytes) -> bool:
        waiting = self._rows.awaiting(turn_id)
        if waiting:
            self.placement.arrived.add(turn_id)
        here = turn_id in self.placement.awaited
        self.placement.awaited.discard(turn_id)
        return not here and self._conversation_id not in waiting

    def _give_child(self, parent: bytes) -> None:
        placed = self.placement.new.get(parent)
        if placed is not None:
            placed.is_leaf = False
            return
        stored = self._rows.turn(parent)
        if stored is None:
            self.placement.awaited.add(parent)
        elif stored.is_leaf and stored.conversation_id == self._conversation_id:
            self.placement.no_longer_leaves.add(stored.seq)
