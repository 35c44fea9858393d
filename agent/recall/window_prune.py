"""What resets and cuts took out of a history (CONTRACT 9): how much in all, and when last.

It counts along the same path that ``agent.core.history`` shows, by the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from agent.core.history import is_count
from agent.core.turn import SessionTurn


class Pruned(NamedTuple):
    """``messages`` that the history of a path shows no longer, ``last`` of them by the last prune.

    ``at``: when that was captured (RFC 3339), else when it says it was said; None where there was none, or neither is
    known.
    """

    messages: int = 0
    last: int = 0
    at: str | None = None


def pruned(path: Iterable[SessionTurn]) -> Pruned:
    """What the turns of ``path`` that carry ``keep_last`` or ``reset`` took away. Linear in turns."""
    found = Pruned()
    system = messages = 0
    for turn in path:
        memory = turn.memory
        if memory:
            reset, keep_last = memory.get("reset"), memory.get("keep_last")
            is_all = reset == "all"
            is_reset = reset is True or is_all
            if is_reset or is_count(keep_last):
                most = 0 if is_reset or not is_count(keep_last) else int(keep_last)
                gone = max(0, messages - most) + (system if is_all else 0)
                messages, system = min(messages, most), 0 if is_all else system
                found = Pruned(found.messages + gone, gone, turn.captured_at or turn.timestamp)
            if turn.is_state_only:
                continue
        if turn.role == "system":
            system += 1
        else:
            messages += 1
    return found
