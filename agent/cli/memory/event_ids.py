"""Which session and conversation an event belongs to, as the store counts it: those of its inputs, else its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.core.ids import is_uuid


def session_of(event: Mapping[str, Any]) -> str | None:
    """The session of a DecisionEvent, in lower case; None where it names none."""
    return _first_id(event, "session_id")


def conversation_of(event: Mapping[str, Any]) -> str | None:
    """The conversation of a DecisionEvent, in lower case; None where it names none."""
    return _first_id(event, "conversation_id")


def members_of(value: object) -> Mapping[str, Any]:
    """The members of a JSON object; none of any other value."""
    return value if isinstance(value, dict) else {}


def _first_id(event: Mapping[str, Any], name: str) -> str | None:
    for place in ("inputs", "outputs"):
        value = members_of(event.get(place)).get(name)
        if is_uuid(value):
            return value.lower()
    return None
