"""How many tokens a message takes: what a counter is, and who takes over where one fails.

A counter is passed in. One that raises, or gives what is no count, does not end a window: the estimator counts that
message, and the manifest says so.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from agent.core.turn import SessionTurn


class Counting(Protocol):
    """Counts the tokens of one message, everything included that a model is sent of it.

    ``name`` is that of the encoding, or ``estimate``. ``is_exact``: it counts as the model does; else 5 % of a budget
    are kept free. ``overhead`` are the tokens of a window beside those of its messages.
    """

    @property
    def name(self) -> str: ...

    @property
    def is_exact(self) -> bool: ...

    @property
    def overhead(self) -> int: ...

    def __call__(self, turn: SessionTurn) -> int:
        """The tokens of ``turn``, at least 1."""
        ...


class Counted(NamedTuple):
    """``tokens`` of a message; ``is_estimated``: the counter failed, and the estimator counted."""

    tokens: int
    is_estimated: bool = False


def counted(turn: SessionTurn, counting: Counting, estimator: Counting | None = None) -> Counted:
    """The tokens of ``turn`` by ``counting``; where that raises, or gives no whole number above 0, by the estimator.

    ``estimator``: one to use in place of ``Estimator()``.
    """
    try:
        tokens = counting(turn)
    except Exception:  # noqa: BLE001 - a counter is anybody's code, and a window does not end with it
        return _estimated(turn, estimator)
    return Counted(tokens) if type(tokens) is int and tokens > 0 else _estimated(turn, estimator)


def _estimated(turn: SessionTurn, estimator: Counting | None) -> Counted:
    if estimator is None:
        # It reads this module, and only a counter that failed needs it.
        from agent.core.window.estimate import Estimator

        estimator = Estimator()
    return Counted(max(1, estimator(turn)), is_estimated=True)
