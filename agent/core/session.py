"""A session as the fold of its turns (CONTRACT 9 and 10): history, branches, order and state.

``fold`` makes it of all turns at once, ``evolve`` of what it was and more turns: new ones, or changed by a revision or
an erasure. Both come to the same: ``fold(a + b) == evolve(fold(a), b)``, turn by turn or together. What continues the
session at its end, as nearly every turn does, costs the same whatever the session's length; what changes its middle
folds it again.

A state never changes: one that was held before a turn came still answers as it did. Any thread may read it, and one at
a time evolve it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agent.core.growing import Growing, GrowingTurns
from agent.core.history import show, shown
from agent.core.memory import EMPTY, Memory, remember, remembered
from agent.core.paths import SessionPaths, named_leaf
from agent.core.timestamps import instant
from agent.core.turn import SessionTurn


class Branch(NamedTuple):
    """An end of a conversation: a turn that nothing continues there.

    ``current``: it is where the conversation's history ends. A turn that was named the conversation's leaf is an end
    too, though something continues it.
    """

    conversation_id: str
    leaf: str
    current: bool


@dataclass(frozen=True, slots=True)
class SessionState:
    """All that a session's readers ask for. Made by ``fold`` and ``evolve``; equal where the turns are equal.

    ``turns``: every turn in its latest revision, in the order of ``seq``. ``leaves``: the current leaf of each
    conversation, in the order of their first turns. ``history`` and ``memory`` are the session's: of the paths of its
    conversations, merged. ``waited_for``: what turns name as a parent or a leaf and is not there (yet).
    """

    turns: GrowingTurns
    leaves: Mapping[str, str]
    history: Growing[SessionTurn]
    memory: Memory
    waited_for: frozenset[str]

    @property
    def version(self) -> int:
        """The highest of its turns' versions (CONTRACT 10); 0 where none names one."""
        return max((turn.version for turn in self.turns), default=0)

    def history_of(self, conversation_id: str | None = None, leaf: str | None = None) -> Sequence[SessionTurn]:
        """The history of the session, of a conversation of it, or of the branch that ends with the turn ``leaf``.

        Raises StoreNotFound for a conversation or a leaf that the session does not have.
        """
        if conversation_id is None and leaf is None:
            return self.history
        return shown(self.paths().path(conversation_id, leaf))

    def memory_of(self, conversation_id: str | None = None, leaf: str | None = None) -> Memory:
        """The state at the end of the same path."""
        if conversation_id is None and leaf is None:
            return self.memory
        return remembered(self.paths().path(conversation_id, leaf))

    def branches(self) -> tuple[Branch, ...]:
        """Every end of every conversation, in the order of ``seq``."""
        paths = self.paths()
        return tuple(
            Branch(conversation_id, leaf, current=self.leaves[conversation_id] == leaf)
            for conversation_id, leaf in paths.ends()
        )

    def paths(self) -> SessionPaths:
        """The forest of its turns; made when it is asked for."""
        return SessionPaths.of(self.turns)


def fold(turns: Iterable[SessionTurn]) -> SessionState:
    """The session that has ``turns``, in any order; of a ``turn_id`` that comes again the last counts."""
    latest = {turn.turn_id: turn for turn in turns}
    return _line(tuple(latest.values())) if _is_line(latest) else _forest(latest.values())


def _forest(turns: Iterable[SessionTurn]) -> SessionState:
    """The session of ``turns`` that continue one another in whatever way; each ``turn_id`` once."""
    paths = SessionPaths.of(turns)
    path = paths.path()
    in_order = GrowingTurns(paths.turns.values())
    return SessionState(
        turns=in_order,
        leaves=paths.leaves,
        history=Growing(shown(path)),
        memory=remembered(path),
        waited_for=frozenset(name for turn in in_order for name in _named(turn) if name not in paths.turns),
    )


def _is_line(turns: Mapping[str, SessionTurn]) -> bool:
    """Whether each of ``turns`` stands behind the one before it and continues it: what nearly every session is.

    Then an order that is there need not be found. A turn that names another leaf makes it another order.
    """
    each = iter(turns.values())
    before = next(each, None)
    if before is None or before.parent_turn_id in turns or named_leaf(before):
        return False
    conversation_id = before.conversation_id
    for turn in each:
        if (
            turn.parent_turn_id != before.turn_id
            or turn.conversation_id != conversation_id
            or turn.seq <= before.seq
            or (turn.fields.get("metadata") and named_leaf(turn))
        ):
            return False
        before = turn
    return True


def _line(turns: Sequence[SessionTurn]) -> SessionState:
    """``_forest(turns)`` of a line, at a part of the cost."""
    said = any(turn.fields.get("metadata") for turn in turns)
    first, last = turns[0], turns[-1]
    return SessionState(
        turns=GrowingTurns(turns),
        leaves={last.conversation_id: last.turn_id},
        # Only what metadata says hides a turn, or is remembered of it.
        history=Growing(shown(turns) if said else turns),
        memory=remembered(turns) if said else EMPTY,
        waited_for=frozenset() if first.parent_turn_id is None else frozenset({first.parent_turn_id}),
    )


def evolve(state: SessionState, *turns: SessionTurn) -> SessionState:
    """``state`` after ``turns``: those that are new, and those that changed in place of what they were."""
    for place, turn in enumerate(turns):
        if not _continues(state, turn):
            return fold((*state.turns, *turns[place:]))
        state = SessionState(
            turns=state.turns.plus(turn),
            leaves={**state.leaves, turn.conversation_id: turn.turn_id},
            history=show(state.history, turn),
            memory=remember(state.memory, turn),
            waited_for=state.waited_for.union(name for name in _named(turn) if state.turns.find(name) is None),
        )
    return state


def as_of(state: SessionState, *, at_seq: int | None = None, at: str | None = None) -> SessionState:
    """The fold, stopped: the turns with ``seq`` up to ``at_seq``, and those captured at or before the instant ``at``.

    Each turn is in its latest revision (CONTRACT 10). ``at`` is a date-time in the sense of CONTRACT 2; ValueError
    where it is none. A turn of a store that does not say when it was captured, by a date-time, is there at any instant.
    """
    if at_seq is None and at is None:
        return state
    until = None if at is None else instant(at)
    return fold(
        turn
        for turn in state.turns
        if (at_seq is None or turn.seq <= at_seq) and (until is None or _is_captured(turn, until))
    )


def _is_captured(turn: SessionTurn, until: int) -> bool:
    try:
        return turn.captured_at is None or instant(turn.captured_at) <= until
    except ValueError:
        return True


def _continues(state: SessionState, turn: SessionTurn) -> bool:
    """Whether ``turn`` comes behind all others, and continues what is shown: then nothing else changes its place.

    The current leaf of its conversation is its parent. Or it begins a conversation, from nothing or from a current
    leaf. Nothing waited for it, and it names no leaf.
    """
    if state.turns and turn.seq <= state.turns[-1].seq:
        return False
    if turn.turn_id in state.waited_for or state.turns.find(turn.turn_id) is not None:
        return False
    if named_leaf(turn) or turn.parent_turn_id == turn.turn_id:
        return False
    parent = turn.parent_turn_id
    leaf = state.leaves.get(turn.conversation_id)
    if leaf is not None:
        return parent == leaf
    return parent is None or parent in state.leaves.values() or state.turns.find(parent) is None


def _named(turn: SessionTurn) -> Iterable[str]:
    """The other turns that ``turn`` names."""
    return filter(None, (turn.parent_turn_id, named_leaf(turn)))
