"""The order in which a strategy that scores keeps units: what belongs together, the current task before the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from agent.core.window.choosing import Group
from agent.core.window.prepared import Prepared
from agent.core.window.units import Units


def unit_score(scores: Sequence[float]) -> float:
    """The score of a unit, from those of its messages: that of the best of them."""
    return max(scores)


def by_importance(prepared: Prepared, units: Units) -> list[Group]:
    """The groups of ``units``: the current task before completed ones, the best first, then the newest.

    Raises ScorerFailedError.
    """
    scores = _unit_scores(prepared, units, prepared.scores)
    tasks = _completed(prepared, units)
    best: dict[int, float] = {}
    for unit, task in tasks.items():
        best[task] = max(best.get(task, 0.0), scores[unit])

    def rank(group: Group) -> tuple[float, ...]:
        score = max(scores[unit] for unit in group.units)
        task = max((tasks.get(unit, -1) for unit in group.units), default=-1)
        # A group that reaches into the current task is of it.
        is_current = any(unit not in tasks for unit in group.units)
        if is_current:
            return (0, 0, 0, -score, -group.units[-1])
        return (1, -best[task], -task, -score, -group.units[-1])

    return sorted(_groups(prepared, units), key=rank)


def by_relevance(prepared: Prepared, units: Units, fused: Sequence[float]) -> list[Group]:
    """The groups of ``units`` by what is asked for, whatever task it is of. ``fused`` are the scores of all turns.

    Raises ScorerFailedError.
    """
    scores = _unit_scores(prepared, units, fused)
    groups = _groups(prepared, units)
    return sorted(groups, key=lambda group: (-max(scores[unit] for unit in group.units), -group.units[-1]))


def _unit_scores(prepared: Prepared, units: Units, scores: Sequence[float]) -> list[float]:
    own = [scores[place] for place in prepared.at]
    starts = units.messages
    return [unit_score(own[start:end]) for start, end in pairwise(starts)]


def _completed(prepared: Prepared, units: Units) -> Mapping[int, int]:
    """By unit that only completed tasks are in, the number of the last of them."""
    task_of = [number for number, task in enumerate(prepared.tasks) for _ in range(task.start, task.end)]
    complete = [task.complete for task in prepared.tasks]
    found: dict[int, int] = {}
    for unit in range(len(units)):
        first = task_of[prepared.at[units.messages[unit]]]
        last = task_of[prepared.at[units.messages[unit + 1] - 1]]
        if all(complete[first : last + 1]):
            found[unit] = last
    return found


def _groups(prepared: Prepared, units: Units) -> list[Group]:
    """Every unit, alone or with those that hold an error and its correction."""
    found = _joined(prepared, units)
    tokens = units.tokens
    return [Group(each, min(tokens[unit + 1] - tokens[unit] for unit in each)) for each in found]


def _joined(prepared: Prepared, units: Units) -> list[tuple[int, ...]]:
    message_at = {place: message for message, place in enumerate(prepared.at)} if prepared.links else {}
    leader = list(range(len(units)))

    def led(unit: int) -> int:
        while leader[unit] != unit:
            leader[unit] = leader[leader[unit]]
            unit = leader[unit]
        return unit

    for one, other in prepared.links:
        if one in message_at and other in message_at:
            first, second = (units.of_message(message_at[place]) for place in (one, other))
            leader[led(first)] = led(second)
    together: dict[int, list[int]] = {}
    for unit in range(len(units)):
        together.setdefault(led(unit), []).append(unit)
    return [tuple(each) for each in together.values()]
