"""What a session shows before something is taken from its views: its conversations, their ends and their histories.

Read once and resolved as CONTRACT 10 says, so that the question that is asked, and what is done, speak of the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from agent.cli.memory.sessions.stored_session import stored_session
from agent.core.cut import Cuts, session_cut
from agent.core.history import shown
from agent.core.pairs import paired_calls
from agent.core.paths import SessionPaths
from agent.core.turn import SessionTurn

if TYPE_CHECKING:
    from agent.ruvector.reads import StoreReads


@dataclass(frozen=True, slots=True)
class SessionViews:
    """One session, with all its ``conversations`` or the one that was asked for; ids are UUIDs in lower case."""

    session_id: str
    conversations: tuple[str, ...]
    _paths: SessionPaths

    @classmethod
    def read(cls, reads: StoreReads, session: str, conversation: str | None) -> Self:
        """The session and the conversation as people name them.

        Raises ConfigurationError for what can be no id, StoreNotFound for what is not there.
        """
        found = stored_session(reads, session, conversation)
        only = found.conversation_id
        return cls(found.session_id, tuple(found.paths.leaves) if only is None else (only,), found.paths)

    def end(self, conversation: str) -> SessionTurn:
        """The turn that a conversation ends with now."""
        return self._paths.turns[self._paths.leaves[conversation]]

    def history(self, conversation: str | None = None) -> tuple[SessionTurn, ...]:
        """The turns that the history of a conversation shows; without one, the session's."""
        return shown(self._paths.path(conversation))

    def messages(self, conversation: str | None = None) -> tuple[SessionTurn, ...]:
        """The messages among them: all but the system turns (CONTRACT 9)."""
        return tuple(turn for turn in self.history(conversation) if turn.role != "system")

    def keep_last(self, at_least: int) -> dict[str, int]:
        """The ``keep_last`` of each conversation that is longer, such that results stay with their calls.

        In the order in which they have to be said: see ``agent.core.cut``.
        """
        pairs = paired_calls(self._paths.turns.values())
        # Where a session's history alone is too long, who spoke last says so.
        last = sorted(self.conversations, key=lambda each: self.end(each).seq)
        cuts = {each: Cuts.of(self.history(each), pairs) for each in last}
        return session_cut(cuts, Cuts.of(self.history(), pairs, merged=True), at_least)
