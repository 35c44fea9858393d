"""Sessions that a reader holds: read once, then only what changed since, revisions and erasures included.

Nothing here is a source: whatever is held can be thrown away and read again. Thread-safe: one thread reads a session
while others wait for it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from agent.core.session import SessionState, fold
from agent.core.turn import SessionTurn
from agent.recall.turns import session_turns
from agent.ruvector.reads import StoreReads


@dataclass(frozen=True, slots=True)
class HeldSession:
    """A session as it was when it was read last. ``version``: of the session (CONTRACT 10), 0 where it has no turn."""

    session_id: str
    state: SessionState
    version: int

    def whole(self, turns: Iterable[SessionTurn]) -> tuple[SessionTurn, ...]:
        """``turns`` of the state with their content, which the state need not hold of every turn."""
        return tuple(turns)


class HeldSessions:
    """The sessions of one store; ``reads`` is where they are read."""

    def __init__(self, reads: StoreReads) -> None:
        self._reads = reads
        self._held: dict[str, HeldSession] = {}
        self._lock = threading.Lock()

    def session(self, session_id: str) -> HeldSession:
        """The session (a UUID in lower case) as it is now. Raises StoreNotFound for one that the store never had."""
        with self._lock:
            turns = session_turns(self._reads, session_id)
            state = fold(turns)
            return HeldSession(session_id, state, state.version)
