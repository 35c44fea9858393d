"""Completed tasks at a task boundary: pruned whole, the oldest first, before anything of the current one is touched."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from agent.core.window.prepared import Prepared
from agent.core.window.units import Units


def pruned(prepared: Prepared, units: Units, *, used: int, target: float) -> list[int]:
    """The units that go, in order, so that of ``used`` tokens ``target`` are left; none where no task begins.

    A task begins where the newest user's message is the first of a user in its segment, and the segment before it is
    complete. The newest ``min_recent`` messages stay, and with them the task that reaches into them. Raises
    ScorerFailedError.
    """
    if used <= target or prepared.atoms.newest_user is None:
        return []
    message = prepared.atoms.starts[prepared.atoms.newest_user]
    newest = prepared.at[message]
    tasks = prepared.tasks
    current = bisect_right(tasks, newest, key=lambda task: task.start) - 1
    between = prepared.turns[tasks[current].start : newest]
    if not current or not tasks[current - 1].complete or any(turn.role == "user" for turn in between):
        return []
    kept_from = min(unit for unit in (units.recent, units.newest, units.open) if unit is not None)
    found: list[int] = []
    for task in tasks[:current]:
        if not task.complete:
            continue
        start = bisect_left(units.messages, bisect_left(prepared.at, task.start))
        end = bisect_right(units.messages, bisect_left(prepared.at, task.end)) - 1
        if start < end <= kept_from:
            found += range(start, end)
            used -= units.tokens[end] - units.tokens[start]
        if used <= target:
            break
    return found
