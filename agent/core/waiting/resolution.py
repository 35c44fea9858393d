"""Reads one message for the parameter that is waited for: what it resolves to, or the words to ask again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agent.core.memory import Memory
from agent.core.waiting.hint import Hints, question


@dataclass(frozen=True, slots=True)
class Resolution:
    """``params`` holds the parameter that was waited for, or nothing.

    Found: ``cleared``. Not found: ``reask`` has the words to ask again, and ``attempts`` says how many messages were
    read for it, this one too. Nothing was waited for: all of it empty.
    """

    params: dict[str, Any] = field(default_factory=dict)
    cleared: bool = False
    reask: str | None = None
    attempts: int = 0


def resolve(memory: Memory, text: str, hints: Hints) -> Resolution:
    """Read ``text``, the user's next message, as the answer to ``memory.waiting_for_param``."""
    name = memory.waiting_for_param
    if name is None:
        return Resolution()
    attempts = memory.answers + 1
    hint = hints.params.get(name)
    if hint is not None:
        # Late: whoever only holds hints, as the capture side does, does not pay for all that reads.
        from agent.core.waiting.reading import value_in

        found = value_in(text, hint)
        if found is not None:
            return Resolution({name: found.value}, cleared=True, attempts=attempts)
    return Resolution(reask=question(name, hint, showing=attempts >= hints.max_attempts), attempts=attempts)
