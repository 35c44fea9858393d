"""What the current message answers, where the session waits for a parameter (CONTRACT 9). It writes nothing.

The message is read with what the session knew before it: a message that is captured already may have answered the
question, and is read to the same end again. Nothing is read for a parameter that the hints do not have, and then there
are no words to ask again either: whoever asks reads the message itself.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import NamedTuple

from agent.core.memory import EMPTY, Memory, remember
from agent.core.turn import SessionTurn
from agent.core.waiting import Hints, Resolution, resolve
from agent.core.waiting.hint import question
from agent.recall.view import SeenSession


class _Waiting(NamedTuple):
    """What was known at a place of the path; ``asking``: the turn since which it waits for what it waits for."""

    memory: Memory
    asking: SessionTurn | None


def answered(seen: SeenSession, turn_id: str | None, text: str, hints: Hints) -> Resolution | None:
    """What ``text`` comes to; None where nothing is waited for. ``turn_id``: the message, where ``seen`` has it."""
    # A new message stands at the end, and what is known there is at hand without a walk.
    before = None if turn_id is None else _before(seen, turn_id)
    memory = seen.memory if before is None else before.memory
    name = memory.waiting_for_param
    if name is None:
        return None
    found = resolve(memory, text, hints)
    hint = hints.params.get(name)
    if found.cleared:
        return found
    if hint is None:
        return replace(found, reask=None)
    if hint.prompt is not None:
        return found
    words = _words(seen, (before or _before(seen, None)).asking)
    if not words:
        return found
    showing = found.attempts >= hints.max_attempts
    return replace(found, reask=question(name, replace(hint, prompt=words), showing=showing))


def known_before(seen: SeenSession, turn_id: str | None) -> Memory:
    """What is known on the path of the view before the turn, or at its end."""
    return _before(seen, turn_id).memory


def _before(seen: SeenSession, turn_id: str | None) -> _Waiting:
    """What is known on the path of the view up to the turn, or to its end."""
    path = seen.state.paths().path(seen.view.conversation_id, seen.view.leaf)
    memory, asking = EMPTY, None
    for turn in takewhile(lambda turn: turn.turn_id != turn_id, path):
        waited, memory = memory.waiting_for_param, remember(memory, turn)
        if memory.waiting_for_param != waited:
            asking = turn
    return _Waiting(memory, asking)


def _words(seen: SeenSession, asking: SessionTurn | None) -> str | None:
    """The words of an assistant that asked; None where it was no assistant, or it said nothing."""
    if asking is None or asking.role != "assistant":
        return None
    (whole,) = seen.held.whole([asking])
    return whole.content
