"""What somebody asks to see of a session: all of it or one conversation or branch, now or as it was.

An as-of view is the same fold, stopped (``agent.core.session.as_of``). What is not in the session is refused without a
word of what was asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from agent.core.exchanges import may_answer
from agent.core.memory import Memory
from agent.core.pairs import Call, Place
from agent.core.session import SessionState, as_of
from agent.core.turn import SessionTurn
from agent.errors import NotFound, StoreNotFound
from agent.recall.held import HeldSession
from agent.recall.source import Source
from agent.recall.walked import Walked


class View(NamedTuple):
    """Which turns: ids are UUIDs in lower case, ``at`` is an RFC 3339 date-time."""

    conversation_id: str | None = None
    leaf: str | None = None
    at_seq: int | None = None
    at: str | None = None


class SeenSession:
    """A session in a view. Raises NotFound for a conversation or a leaf that it does not have."""

    def __init__(self, held: HeldSession, view: View, source: Source) -> None:
        self.held = held
        self.view = view
        self._source = source
        self.state: SessionState = as_of(held.state, at_seq=view.at_seq, at=view.at)
        try:
            self.history: Sequence[SessionTurn] = self.state.history_of(view.conversation_id, view.leaf)
        except StoreNotFound as error:
            raise _not_there(view) from error

    @cached_property
    def memory(self) -> Memory:
        """The state at the end of the history."""
        return self.state.memory_of(self.view.conversation_id, self.view.leaf)

    @cached_property
    def walked(self) -> Walked:
        """What a walk over the whole session tells, as of the view's instant."""
        if self.state is self.held.state:
            return self._source.walked.of(self.held.session_id, self.state)
        return Walked(self.state)

    def pairs_for(self, turns: Iterable[SessionTurn]) -> Mapping[Place, Call]:
        """The call that each result answers, for who shows ``turns``: the session is walked only for results."""
        return self.walked.pairs if any(map(may_answer, turns)) else {}


def _not_there(view: View) -> NotFound:
    asked = "conversation" if view.leaf is None else "turn" if view.conversation_id is None else "turn or conversation"
    return NotFound(f"the session has no such {asked}")
