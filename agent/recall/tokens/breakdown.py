"""What the messages of a history come to in tokens, by role, beside what their providers reported.

The two are not the same: a report counts a prompt with all that was sent before, once for each answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agent.core.summary import statistics
from agent.core.turn import SessionTurn
from agent.core.window.counting import Counting


class Breakdown(NamedTuple):
    """``total`` is the sum of ``by_role`` and ``overhead``; ``reported`` sums the ``token_usage`` of the turns."""

    by_role: Mapping[str, int]
    overhead: int
    counter: str
    is_exact: bool
    reported: Mapping[str, int]

    @property
    def total(self) -> int:
        """The tokens of a window of all of it."""
        return sum(self.by_role.values()) + self.overhead

    def document(self) -> dict[str, Any]:
        """As every surface shows it."""
        return {
            "total": self.total,
            "by_role": dict(self.by_role),
            "overhead": self.overhead,
            "counter": self.counter,
            "exact": self.is_exact,
            "reported": dict(self.reported),
        }


def breakdown(turns: Sequence[SessionTurn], count: Counting) -> Breakdown:
    """The tokens of ``turns``, none of them erased or without a message, counted by ``count``."""
    by_role: Counter[str] = Counter()
    for turn in turns:
        by_role[turn.role] += count(turn)
    return Breakdown(dict(by_role), count.overhead, count.name, count.is_exact, statistics(turns).token_usage)
