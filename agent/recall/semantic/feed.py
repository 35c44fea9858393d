"""The events that asked for embeddings (``embedding_computation_deferred``, CONTRACT 6), and what their turns said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import jiter

from agent.core.ids import is_uuid
from agent.recall.semantic.said import Said, text_of
from agent.ruvector.feed import FedEvent

DEFERRED: Final = "embedding_computation_deferred"


class Deferred(NamedTuple):
    """One event's session and what its turns said, in their order. ``blank`` turns say nothing, or are erased."""

    session_id: str
    said: tuple[Said, ...]
    blank: int


def deferred(event: FedEvent) -> Deferred | None:
    """What ``event`` wants to have embedded; None for one that does not ask for it, or is not what ours are."""
    # Most events do not ask, and an event may be large.
    if event.is_erased or DEFERRED.encode() not in event.text:
        return None
    envelope = _object(_value(event.text))
    payload = _object(envelope.get("payload")) or envelope
    applied, inputs = payload.get("constraints_applied"), _object(payload.get("inputs"))
    session_id, turns = inputs.get("session_id"), inputs.get("turns")
    if not isinstance(applied, list) or DEFERRED not in applied or not is_uuid(session_id):
        return None
    named = [turn for turn in map(_object, turns if isinstance(turns, list) else ()) if is_uuid(turn.get("turn_id"))]
    found = [said for turn in named if (said := _said(turn, event.position or 0)) is not None]
    return Deferred(session_id.lower(), tuple(found), len(named) - len(found))


def _said(turn: Mapping[str, Any], position: int) -> Said | None:
    calls = turn.get("tool_invocations")
    text = text_of(turn.get("content"), map(_object, calls) if isinstance(calls, list) else ())
    return Said(str(turn["turn_id"]).lower(), position, text) if text else None


def _value(text: bytes) -> Any:
    try:
        return jiter.from_json(text, allow_inf_nan=False)
    except ValueError:
        return None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
