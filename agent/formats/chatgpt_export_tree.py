"""The order of an export's messages: parents before children, branch after branch, whatever the file says.

Files hold parents that are not there and rings of parents; each such message begins anew. Nothing recurses: a branch
may be as long as the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agent.core.timestamps import instant


class Placed(NamedTuple):
    """A message by its name, and the one that it continues."""

    name: str
    parent: str | None


def in_order(parents: Mapping[str, str | None]) -> list[Placed]:
    """All names of ``parents``, each once, after its parent; the children of one parent in the mapping's order."""
    held = _without_rings(parents)
    following: dict[str | None, list[str]] = {}
    for name, parent in held.items():
        following.setdefault(parent, []).append(name)
    found = []
    waiting = list(reversed(following.get(None, [])))
    while waiting:
        name = waiting.pop()
        found.append(Placed(name, held[name]))
        waiting.extend(reversed(following.get(name, [])))
    return found


def newest_end(placed: Sequence[Placed], times: Mapping[str, str | None]) -> str | None:
    """Of those that nothing continues the one with the latest of ``times`` (RFC 3339), of several the last in their
    order; None where there are none.
    """
    continued = {each.parent for each in placed}
    newest, latest = None, -1
    for name, time in times.items():
        since = 0 if time is None else max(0, instant(time))
        if name not in continued and since >= latest:
            newest, latest = name, since
    return newest


def _without_rings(parents: Mapping[str, str | None]) -> dict[str, str | None]:
    """``parents`` without those that are not there; a ring is cut above where a walk entered it."""
    held: dict[str, str | None] = {
        name: parent if parent is not None and parent in parents else None for name, parent in parents.items()
    }
    safe: set[str] = set()
    for start in held:
        path: dict[str, None] = {}
        name: str | None = start
        while name is not None and name not in safe and name not in path:
            path[name] = None
            name = held[name]
        if name is not None and name in path:
            held[name] = None
        safe.update(path)
    return held
