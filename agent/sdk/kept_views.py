"""What is kept of views of sessions between two reads: their messages, and which warnings were given already.

At most so many views, the ones used last: whatever is dropped is made again. Thread-safe.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from agent.errors import Problem
from agent.observability import log_event
from agent.sdk.shown import ShownMessages

_MOST: Final = 256


class KeptView:
    """``messages`` are those that the view showed last."""

    def __init__(self) -> None:
        self.messages = ShownMessages()
        self._told: set[str] = set()

    def warn(self, session_id: str, ignored: Iterable[Problem]) -> None:
        """Log the members of ``metadata.memory`` that say nothing (CONTRACT 9), once for each turn: never a value."""
        by_turn: dict[str, list[Problem]] = {}
        for problem in ignored:
            # As ``agent.core.memory`` writes them: $.<turn_id>.metadata.memory.params
            turn_id = problem.path.removeprefix("$.").partition(".")[0]
            if turn_id not in self._told:
                by_turn.setdefault(turn_id, []).append(problem)
        for turn_id, problems in by_turn.items():
            self._told.add(turn_id)
            log_event(
                "memory of a turn ignored",
                level=logging.WARNING,
                fields={
                    "session_id": session_id,
                    "turn_id": turn_id,
                    "paths": tuple(problem.path for problem in problems),
                    "rules": tuple(problem.rule for problem in problems),
                },
            )


class KeptViews:
    """The views of one store, by session and conversation."""

    def __init__(self, most: int = _MOST) -> None:
        self._views: OrderedDict[tuple[str, str | None], KeptView] = OrderedDict()
        self._most = most
        self._lock = threading.Lock()

    def view(self, session_id: str, conversation_id: str | None) -> KeptView:
        """What is kept of this view; a fresh one where nothing is."""
        key = (session_id, conversation_id)
        with self._lock:
            found = self._views.pop(key, None) or KeptView()
            self._views[key] = found
            if len(self._views) > self._most:
                self._views.popitem(last=False)
            return found
