"""What only a walk over a whole session tells, remembered as long as the session is the one that was walked.

A history of many turns is read page by page, and each page shows its branches and whose result is whose.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from agent.core.pairs import Call, Place, paired_calls
from agent.core.session import Branch, SessionState

# Each keeps its session in memory, however large it is.
_REMEMBERED: Final = 8


class Walked:
    """What a walk over ``state`` tells, each found when it is first asked for."""

    def __init__(self, state: SessionState) -> None:
        self.state = state

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        return self.state.branches()

    @cached_property
    def pairs(self) -> Mapping[Place, Call]:
        """The call that each result answers, over the whole session."""
        return paired_calls(self.state.turns)


class WalkedSessions:
    """The walks of the sessions that were asked for last. Thread-safe: at worst a session is walked twice."""

    def __init__(self, most: int = _REMEMBERED) -> None:
        self._most = most
        self._walked: OrderedDict[str, Walked] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, session_id: str, state: SessionState) -> Walked:
        """The walk over ``state``, which is the session as it is now."""
        with self._lock:
            walked = self._walked.get(session_id)
            if walked is None or walked.state is not state:
                walked = self._walked[session_id] = Walked(state)
            self._walked.move_to_end(session_id)
            if len(self._walked) > self._most:
                self._walked.popitem(last=False)
            return walked
