"""The order of a session (CONTRACT 10): which turn continues which, where a conversation ends, and the way there.

The turns of a session are a forest: each has one parent at most, and may be continued more than once. A *path* leads
from a root down to one turn. What a path shows is for ``agent.core.history`` to say, what it means for the folds.

The turns may come in any order, and what they name need not be there: a parent that is not in the session (yet) leaves
its turn a root, and a ring of parents is cut where its last turn closed it. Nothing here looks at a timestamp, and
nothing recurses: a path may be as long as the session.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from agent.core.ids import is_uuid
from agent.core.turn import SessionTurn
from agent.errors import StoreNotFound


@dataclass(frozen=True, slots=True)
class SessionPaths:
    """The turns of one session, in ``seq`` order and by id, with the parents and the leaves that hold.

    ``parents``: a parent is in the session and above its turn; None for a root. ``leaves``: the current leaf of each
    conversation, which may stand in another one; the conversations are in the order of their first turns.
    """

    turns: Mapping[str, SessionTurn]
    parents: Mapping[str, str | None]
    leaves: Mapping[str, str]

    @classmethod
    def of(cls, turns: Iterable[SessionTurn]) -> SessionPaths:
        """Sort and link ``turns``: all that the session has, of every conversation and branch."""
        by_id = {turn.turn_id: turn for turn in sorted(turns, key=_place)}
        parents = _parents(by_id)
        return cls(by_id, parents, _current_leaves(by_id, parents))

    def path(self, conversation_id: str | None = None, leaf: str | None = None) -> tuple[SessionTurn, ...]:
        """The path to ``leaf``; else the path of a conversation; else the session's: the paths of all, merged.

        Raises StoreNotFound for a conversation that the session does not have, and for a leaf that is not in it.
        """
        if conversation_id is not None and conversation_id not in self.leaves:
            raise StoreNotFound(f"the session has no conversation {conversation_id}")
        if leaf is not None:
            self._check(leaf, conversation_id)
            return self.merged([leaf])
        return self.merged(self.leaves.values() if conversation_id is None else [self.leaves[conversation_id]])

    def ends(self) -> Iterator[tuple[str, str]]:
        """Where branches end, in the order of ``seq``: the conversation, and its turn that none of its own continues.

        The current leaf of a conversation is one whatever continues it, and in whatever conversation it is.
        """
        continued = _continued(self.turns, self.parents)
        current: dict[str, list[str]] = {}
        for conversation_id, leaf in self.leaves.items():
            current.setdefault(leaf, []).append(conversation_id)
        for turn_id, turn in self.turns.items():
            own = [] if turn_id in continued else [turn.conversation_id]
            for conversation_id in dict.fromkeys([*own, *current.get(turn_id, ())]):
                yield conversation_id, turn_id

    def merged(self, leaves: Iterable[str]) -> tuple[SessionTurn, ...]:
        """The paths to ``leaves`` as one: each turn once, at each step the path whose head has the smallest ``seq``.

        A turn is the head of a path when all above it was taken, whichever path it was taken for. So the paths need
        not be held one by one: many that fork from one long path cost no more than their turns.
        """
        below = self._union(leaves)
        heads = [_place(self.turns[root]) for root in below.get(None, ())]
        heapq.heapify(heads)
        taken: list[SessionTurn] = []
        while heads:
            turn_id = heapq.heappop(heads)[1]
            taken.append(self.turns[turn_id])
            for child in below.get(turn_id, ()):
                heapq.heappush(heads, _place(self.turns[child]))
        return tuple(taken)

    def _union(self, leaves: Iterable[str]) -> dict[str | None, list[str]]:
        """The turns on the paths to ``leaves``, by their parents; the roots under None."""
        below: dict[str | None, list[str]] = {}
        met: set[str] = set()
        for leaf in leaves:
            current: str | None = leaf
            while current is not None and current not in met:
                met.add(current)
                parent = self.parents[current]
                below.setdefault(parent, []).append(current)
                current = parent
        return below

    def _check(self, leaf: str, conversation_id: str | None) -> None:
        turn = self.turns.get(leaf)
        if turn is None:
            raise StoreNotFound(f"the session has no turn {leaf}")
        if conversation_id not in (None, turn.conversation_id):
            raise StoreNotFound(f"the turn {leaf} is not in the conversation {conversation_id}")


def _place(turn: SessionTurn) -> tuple[int, str]:
    # ``seq`` is unique in a session; the id keeps the order total for a store that forgets it.
    return turn.seq, turn.turn_id


def _parents(turns: Mapping[str, SessionTurn]) -> dict[str, str | None]:
    """The parent of each turn, None where it is not in the session or would make the turn its own ancestor."""
    parents = {
        turn_id: turn.parent_turn_id if turn.parent_turn_id in turns else None for turn_id, turn in turns.items()
    }
    # The walk up from a turn stops at what an earlier walk met. Met in the same walk, it is a ring.
    walk_of: dict[str, str] = {}
    for start in turns:
        current: str | None = start
        while current is not None and current not in walk_of:
            walk_of[current] = start
            current = parents[current]
        if current is not None and walk_of[current] == start:
            # The turn that came last closed the ring: its parent was there, and below it.
            parents[max(_ring(current, parents), key=lambda turn_id: _place(turns[turn_id]))] = None
    return parents


def _ring(member: str, parents: Mapping[str, str | None]) -> list[str]:
    ring = [member]
    current = parents[member]
    while current is not None and current != member:
        ring.append(current)
        current = parents[current]
    return ring


def _current_leaves(turns: Mapping[str, SessionTurn], parents: Mapping[str, str | None]) -> dict[str, str]:
    """The current leaf of each conversation; ``turns`` in ``seq`` order."""
    continued = _continued(turns, parents)
    leaves: dict[str, str] = {}
    for turn in turns.values():
        # A turn that names a leaf names it until a later leaf comes: the carrier is a leaf, and gives way itself.
        if turn.turn_id not in continued:
            leaves[turn.conversation_id] = turn.turn_id
        named = named_leaf(turn)
        if named in turns:
            leaves[turn.conversation_id] = named
    return leaves


def _continued(turns: Mapping[str, SessionTurn], parents: Mapping[str, str | None]) -> set[str]:
    """The turns that a turn of their own conversation continues."""
    return {
        parent
        for turn_id, parent in parents.items()
        if parent is not None and turns[parent].conversation_id == turns[turn_id].conversation_id
    }


def named_leaf(turn: SessionTurn) -> str:
    """The id in ``metadata.memory.leaf``, in any case; empty where there is none, or it is no UUID."""
    named = turn.memory.get("leaf")
    return named.lower() if is_uuid(named) else ""
