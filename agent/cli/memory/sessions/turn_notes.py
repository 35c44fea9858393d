"""What a whole turn says beside its text and its calls: a line each for model, agent, tokens and metadata.

Only what is there has a line. Whatever another writer put in the place of one is shown as JSON, not yet safe to print.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from agent.cli.memory.events.event_ids import text_of
from agent.core.turn import SessionTurn

_NOTHING: Final[tuple[Any, ...]] = (None, {}, [], "")


def turn_notes(turn: SessionTurn, speaker: str | None) -> Iterator[str]:
    """The lines of ``turn``, which is not erased; ``speaker`` is its agent, if one is known."""
    model, usage, metadata = (turn.fields.get(name) for name in ("model", "token_usage", "metadata"))
    if model not in _NOTHING:
        yield f"model: {text_of(model)}"
    if speaker is not None:
        yield f"agent: {speaker}"
    if usage not in _NOTHING:
        yield f"tokens: {_tokens(usage)}"
    if isinstance(metadata, dict) and turn.agent is not None:
        metadata = {name: value for name, value in metadata.items() if name != "agent"}
    if metadata not in _NOTHING:
        yield f"metadata: {_compact(metadata)}"


def successes(turn: SessionTurn) -> dict[str, str]:
    """What the invocations of ``turn`` say of their success, by their ids; those that say nothing are left out."""
    return {
        entry["invocation_id"].lower(): f"success: {_compact(entry['success'])}"
        for entry in turn.invocations
        # People are shown another writer's invocations too, whose ids may be any strings.
        if isinstance(entry.get("invocation_id"), str) and "success" in entry
    }


def _tokens(usage: Any) -> str:
    if not isinstance(usage, dict):
        return _compact(usage)
    return ", ".join(f"{name.removesuffix('_tokens')} {_compact(count)}" for name, count in usage.items())


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
