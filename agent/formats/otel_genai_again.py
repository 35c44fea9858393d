"""Messages of the GenAI conventions as they came, made of the turns that they became and what those keep of them.

``native`` may be anything: what is made of it is read again, and has to say what the turns say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from agent.formats.conversation.message import Message
from agent.formats.conversation.model_calls import said_key
from agent.formats.otel_genai_message import (
    CALLS,
    OURS,
    RESULTS,
    parts_of,
    read_instructions,
    read_message,
    shows,
)
from agent.formats.tool_calls import ArgumentReader


def message_of(turns: Sequence[Message]) -> dict[str, Any] | None:
    """The message that ``turns`` came as, by what their ``native`` keeps; None where that does not say them now."""
    first = turns[0].native or {}
    parts: list[tuple[int, Any]] = []
    for turn in turns:
        native = turn.native or {}
        some = _given_back(native["parts"], parts_of(turn)) if "parts" in native else parts_of(turn)
        if some is None:
            return None
        parts += zip(_places(native.get("places"), len(some), len(parts)), some, strict=True)
    said = [part for _, part in sorted(parts, key=lambda placed: placed[0])]
    message: dict[str, Any] = {"role": first.get("role", turns[0].role)}
    form = first.get("content_is")
    name = "parts" if form is None else "content"
    message[name] = said[0] if form == "text" and len(said) == 1 else said
    message |= {key: value for key, value in first.items() if key not in OURS and key != "role"}
    members = first.get("members")
    if isinstance(members, dict):
        message |= members
    return message if _says(read_message(message, "$", ArgumentReader(), []), turns) else None


def _places(kept: Any, count: int, before: int) -> Sequence[int]:
    is_known = isinstance(kept, list) and len(kept) == count and all(isinstance(each, int) for each in kept)
    return kept if is_known else range(before, before + count)


def instructions_of(turn: Message) -> Any:
    """``gen_ai.system_instructions`` for ``turn``, as it came where its ``native`` tells."""
    native = turn.native or {}
    parts = _given_back(native["parts"], parts_of(turn)) if "parts" in native else parts_of(turn)
    sent = parts[0] if parts and native.get("instructions") == "text" and isinstance(parts[0], str) else parts
    return sent if sent is not None and _says(read_instructions(sent, "$", []), [turn]) else parts_of(turn)


def _given_back(kept: Any, standard: Iterable[dict[str, Any]]) -> list[Any] | None:
    if not isinstance(kept, list):
        return None
    left = list(standard)
    if left and left[0]["type"] == "text" and any(shows(part) for part in kept if part is not None):
        left.pop(0)
    parts: list[Any] = []
    for part in kept:
        if part is None and not left:
            return None
        if isinstance(part, dict) and part.get("type") in (*CALLS, *RESULTS) and left:
            # The next call is this one, as it came.
            left = left[1:] if left[0]["type"] != "text" else [left[0], *left[2:]]
        parts.append(left.pop(0) if part is None else part)
    return parts


def _says(read: Sequence[Message], turns: Sequence[Message]) -> bool:
    return [said_key(each) for each in read] == [said_key(each) for each in turns]
