"""What is wrong with a window, whoever cut it: places of messages go in, names of faults come out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any


def faults(
    messages: Sequence[dict[str, Any]], kept: Sequence[int], limit: int | None, tokens: Callable[[dict[str, Any]], int]
) -> set[str]:
    """The faults of a window that keeps the places ``kept``. ``limit`` in tokens; None where it counts messages.

    ``orphan``: a result without its call before it. ``unanswered``: a call without its result, unless the conversation
    itself has none. ``empty``, ``over``: nothing in it, or more than the limit. ``system``: a system message is gone.
    ``newest``: the newest message of a user is gone.
    """
    found: set[str] = set()
    there = set(kept)
    open_calls: Counter[str] = Counter()
    for place in kept:
        message = messages[place]
        open_calls.update(call["id"] for call in message["calls"])
        for answered in message["answers"]:
            if open_calls[answered] <= 0:
                found.add("orphan")
            open_calls[answered] -= 1
    calls = Counter(call["id"] for message in messages for call in message["calls"])
    calls.subtract(answered for message in messages for answered in message["answers"])
    if any(left > max(0, calls[call]) for call, left in open_calls.items()):
        found.add("unanswered")
    if not kept:
        found.add("empty")
    if limit is not None and sum(tokens(messages[place]) for place in kept) > limit:
        found.add("over")
    users = [place for place, message in enumerate(messages) if message["role"] == "user"]
    if any(message["role"] == "system" and place not in there for place, message in enumerate(messages)):
        found.add("system")
    if users and users[-1] not in there:
        found.add("newest")
    return found
