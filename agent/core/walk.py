"""A walk through all branches of a session, from each root down: how what holds along a path is known for every turn.

Nothing recurses: a path may be as long as the session.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agent.core.paths import SessionPaths
from agent.core.turn import SessionTurn


class Step(NamedTuple):
    """One step: a turn is reached, or, ``leaving``, all that continue it were."""

    turn: SessionTurn
    leaving: bool


def children(paths: SessionPaths) -> dict[str | None, list[SessionTurn]]:
    """The turns that continue each turn, in ``seq`` order; the roots under None."""
    below: dict[str | None, list[SessionTurn]] = {}
    for turn_id, turn in paths.turns.items():
        below.setdefault(paths.parents[turn_id], []).append(turn)
    return below


def walk(paths: SessionPaths) -> Iterator[Step]:
    """Every turn twice: reached after the turn that it continues, left after all that continue it."""
    below = children(paths)
    steps = [Step(root, leaving=False) for root in reversed(below.get(None, ()))]
    while steps:
        step = steps.pop()
        yield step
        if not step.leaving:
            steps.append(Step(step.turn, leaving=True))
            steps += [Step(child, leaving=False) for child in reversed(below.get(step.turn.turn_id, ()))]
