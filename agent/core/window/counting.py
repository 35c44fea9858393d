"""How many tokens a message takes: what a counter is, and who takes over where one fails.

A counter is passed in. One that raises, or gives what is no count, does not end a window: the estimator counts that
message, and the manifest says so. Where that fails too, every character is one token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol

from agent.core.turn import SessionTurn

# No model takes as many tokens; every float holds it.
MOST_TOKENS: Final = 1 << 53


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


def counted(turn: SessionTurn, counting: Counting) -> Counted:
    """The tokens of ``turn`` by ``counting``; where that raises, or gives no whole number above 0, by the estimator.

    A number above ``MOST_TOKENS`` is no count either.
    """
    try:
        tokens = counting(turn)
    except Exception:  # noqa: BLE001 - a counter is anybody's code, and a window does not end with it
        return _estimated(turn)
    return Counted(tokens) if type(tokens) is int and 0 < tokens <= MOST_TOKENS else _estimated(turn)


class CountedTurns(NamedTuple):
    """``tokens`` of each turn; ``estimated``: the places of those that the counter failed for."""

    tokens: list[int]
    estimated: list[int]


def counted_turns(turns: Sequence[SessionTurn], counting: Counting) -> CountedTurns:
    """``counted`` of each of ``turns``."""
    found: list[int] = []
    estimated: list[int] = []
    for place, turn in enumerate(turns):
        try:
            tokens = counting(turn)
        except Exception:  # noqa: BLE001 - as above
            tokens = 0
        if type(tokens) is not int or not 0 < tokens <= MOST_TOKENS:
            tokens = _estimated(turn).tokens
            estimated.append(place)
        found.append(tokens)
    return CountedTurns(found, estimated)


def _estimated(turn: SessionTurn) -> Counted:
    # It reads this module, and only a counter that failed needs it.
    from agent.core.window.estimate import Estimator

    try:
        tokens = Estimator()(turn)
    except Exception:  # noqa: BLE001 - as a value of a reader's own that has no text; a window does not end with that either
        tokens = _characters(turn)
    return Counted(max(1, tokens), is_estimated=True)


def _characters(turn: SessionTurn) -> int:
    """The characters of ``turn`` that a model may be sent, as deep as they lie."""
    found = 0
    pending: list[Any] = [turn.content, turn.fields.get("tool_invocations"), turn.fields.get("metadata")]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            found += len(item)
        elif isinstance(item, dict):
            pending += item.keys()
            pending += item.values()
        elif isinstance(item, list):
            pending += item
        else:
            found += 1
    return found
