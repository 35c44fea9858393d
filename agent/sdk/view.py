"""A session as one handle sees it at one moment: what the store has, and what an open batch is about to add."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from agent.core.growing import Growing, GrowingTurns
from agent.core.memory import EMPTY, Memory
from agent.core.native import derive_ids
from agent.core.session import SessionState, evolve, fold
from agent.core.turn import SessionTurn
from agent.recall.held import HeldSession

NO_SESSION: Final = fold(())


@dataclass(frozen=True, slots=True)
class View:
    """``history`` and ``memory`` are those of the session, or of the one conversation that the handle is for.

    ``held`` is None for a session that the store never had. ``pending`` are the ids of turns that no capture holds yet.
    """

    session_id: str
    held: HeldSession | None
    state: SessionState
    history: Sequence[SessionTurn]
    memory: Memory
    pending: frozenset[str] = frozenset()

    @property
    def version(self) -> int:
        """The session's version in the store; 0 where it is not there."""
        return 0 if self.held is None else self.held.version

    @property
    def is_light(self) -> bool:
        """Whether the content of its turns is not held, but read when somebody asks for it."""
        return self.held is not None and self.held.content is not None

    def whole(self, turns: Sequence[SessionTurn]) -> Iterable[SessionTurn]:
        """``turns`` with their content, which what is held need not have of every turn."""
        if self.held is None:
            return turns
        if not self.pending:
            return self.held.whole(turns)
        stored = self.held.whole([turn for turn in turns if turn.turn_id not in self.pending])
        found = {turn.turn_id: turn for turn in stored}
        return [found.get(turn.turn_id, turn) for turn in turns]


def view_of(
    session_id: str,
    held: HeldSession | None,
    conversation_id: str | None,
    pending: tuple[SessionState, frozenset[str]] | None = None,
) -> View:
    """The view of a session, or of one ``conversation_id`` of it; ``pending`` is its state with what is to come."""
    state, new = pending or (NO_SESSION if held is None else held.state, frozenset())
    if conversation_id is None or (len(state.leaves) == 1 and conversation_id in state.leaves):
        # The only conversation of a session is what the session shows.
        return View(session_id, held, state, state.history, state.memory, new)
    if conversation_id not in state.leaves:
        return View(session_id, held, state, (), EMPTY, new)
    return View(session_id, held, state, state.history_of(conversation_id), state.memory_of(conversation_id), new)


def with_pending(state: SessionState, payload: dict[str, Any]) -> tuple[SessionState, frozenset[str]]:
    """``state`` as it will be once ``payload`` is captured, if nobody else writes meanwhile; and the ids that are new.

    ``state`` stays as it is, also for who evolves it at the same time.
    """
    own = replace(state, turns=GrowingTurns(state.turns), history=Growing(state.history))
    derived = derive_ids(payload)
    conversation_id = derived["conversation_id"]
    before = state.leaves.get(conversation_id)
    seq = state.turns[-1].seq if state.turns else 0
    turns: list[SessionTurn] = []
    for fields in derived["turns"]:
        turn_id = fields["turn_id"].lower()
        known = state.turns.find(turn_id)
        if known is not None:
            turns.append(_revised(known, fields))
        else:
            seq += 1
            turns.append(
                SessionTurn(
                    turn_id=turn_id,
                    seq=seq,
                    conversation_id=conversation_id,
                    parent_turn_id=fields.get("parent_turn_id", before),
                    role=fields["role"],
                    content=fields["content"],
                    erased=False,
                    fields=fields,
                )
            )
        before = turn_id
    new = frozenset(turn.turn_id for turn in turns if state.turns.find(turn.turn_id) is None)
    return evolve(own, *turns), new


def _revised(known: SessionTurn, fields: dict[str, Any]) -> SessionTurn:
    """``known`` with what is said under its id now; an erased one stays empty (CONTRACT 10a)."""
    if known.erased:
        return known
    return replace(known, role=fields["role"], content=fields["content"], fields={**known.fields, **fields})
