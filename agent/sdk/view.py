"""A session as one handle sees it at one moment: what the store has, and what an open batch is about to add."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final

from agent.core.growing import Growing, GrowingTurns
from agent.core.memory import EMPTY, Memory
from agent.core.native import derive_ids
from agent.core.session import SessionState, evolve, fold
from agent.core.turn import SessionTurn
from agent.recall.held import HeldSession
from agent.sdk.session_name import SessionName

NO_SESSION: Final = fold(())


@dataclass(frozen=True, slots=True)
class View:
    """``history`` and ``memory`` are those of the session, or of the one conversation that the handle is for.

    ``held`` is None for a session that the store never had. ``pending`` are the ids of turns that no capture holds yet,
    ``revised`` those of turns that the store has, but not as an open batch has them now.
    """

    session_id: str
    held: HeldSession | None
    state: SessionState
    history: Sequence[SessionTurn]
    memory: Memory
    pending: AbstractSet[str] = frozenset()
    revised: AbstractSet[str] = frozenset()

    @property
    def version(self) -> int:
        """The session's version in the store; 0 where it is not there."""
        return 0 if self.held is None else self.held.version

    @property
    def is_stored(self) -> bool:
        """Whether it is what the store has, and nothing of a batch."""
        return not self.pending and not self.revised

    @property
    def is_light(self) -> bool:
        """Whether the content of its turns is not held, but read when somebody asks for it."""
        return self.held is not None and self.held.content is not None

    def whole(self, turns: Sequence[SessionTurn]) -> Iterable[SessionTurn]:
        """``turns`` with their content, which what is held need not have of every turn."""
        if self.held is None:
            return turns
        if self.is_stored:
            return self.held.whole(turns)
        own = self.pending | self.revised
        stored = self.held.whole([turn for turn in turns if turn.turn_id not in own])
        found = {turn.turn_id: turn for turn in stored}
        return [found.get(turn.turn_id, turn) for turn in turns]


class Pending:
    """The session ``name`` as it will be once an open batch is captured, if nobody else writes meanwhile.

    ``state`` is what the store has, and stays as it is, also for who evolves it at the same time. Each turn that is
    added costs the same, however many came before it. Whoever uses it lets one at a time add.
    """

    def __init__(self, state: SessionState, name: SessionName) -> None:
        self._base = state
        self._name = name
        self.state = replace(state, turns=GrowingTurns(state.turns), history=Growing(state.history))
        self.new: set[str] = set()
        self.revised: set[str] = set()
        # The newest turn of the conversation: what is new continues it.
        self._newest: str | None = state.leaves.get(name.conversation)
        # Those with calls or results: a result is paired with a call before it in its capture.
        self._calling: list[Mapping[str, Any]] = []

    def is_on(self, state: SessionState, name: SessionName) -> bool:
        """Whether it is of this very ``state``, and this conversation."""
        return self._base is state and self._name.conversation == name.conversation

    def add(self, turns: Sequence[Mapping[str, Any]]) -> None:
        """Let ``turns`` of the batch come too. What the store has keeps its place, and nothing new follows it."""
        self.state = evolve(self.state, *map(self._turn, self._derived(turns)))

    def _derived(self, turns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        calling = [turn for turn in turns if turn.get("tool_invocations")]
        earlier = self._calling if calling else []
        payload = {
            "session_id": self._name.sent_session,
            "conversation_id": self._name.sent_conversation,
            "turns": [*earlier, *turns],
        }
        derived: list[dict[str, Any]] = derive_ids(payload)["turns"][len(earlier) :]
        self._calling += calling
        return derived

    def _turn(self, fields: dict[str, Any]) -> SessionTurn:
        turn_id = fields["turn_id"].lower()
        known = self._base.turns.find(turn_id)
        if known is not None:
            if not known.erased:
                self.revised.add(turn_id)
            return _revised(known, fields)
        before, self._newest = self._newest, turn_id
        self.new.add(turn_id)
        return SessionTurn(
            turn_id=turn_id,
            seq=(self._base.turns[-1].seq if self._base.turns else 0) + len(self.new),
            conversation_id=self._name.conversation,
            parent_turn_id=fields.get("parent_turn_id", before),
            role=fields["role"],
            content=fields["content"],
            erased=False,
            fields=fields,
        )


def view_of(
    session_id: str,
    held: HeldSession | None,
    conversation_id: str | None,
    pending: Pending | None = None,
) -> View:
    """The view of a session, or of one ``conversation_id`` of it; with what is ``pending`` for it."""
    state = NO_SESSION if held is None else held.state
    new: AbstractSet[str] = frozenset()
    revised: AbstractSet[str] = frozenset()
    if pending is not None:
        state, new, revised = pending.state, pending.new, pending.revised
    if conversation_id is None or (len(state.leaves) == 1 and conversation_id in state.leaves):
        # The only conversation of a session is what the session shows.
        return View(session_id, held, state, state.history, state.memory, new, revised)
    if conversation_id not in state.leaves:
        return View(session_id, held, state, (), EMPTY, new, revised)
    history, memory = state.history_of(conversation_id), state.memory_of(conversation_id)
    return View(session_id, held, state, history, memory, new, revised)


def _revised(known: SessionTurn, fields: dict[str, Any]) -> SessionTurn:
    """``known`` with what is said under its id now; an erased one stays empty (CONTRACT 10a)."""
    if known.erased:
        return known
    return replace(known, role=fields["role"], content=fields["content"], fields={**known.fields, **fields})
