"""Which session and conversation an event belongs to, as the store counts it: those of its inputs, else its outputs.

And how such an id is written for people, with the native one beside it.
"""

from __future__ import annotations

import json
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


def with_native(identity: str, native: object) -> str:
    """``identity``, and behind it the ``native`` id that it was made of; None where that is not known."""
    return identity if native is None else f"{identity} ({text_of(native)})"


def text_of(value: object) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _first_id(event: Mapping[str, Any], name: str) -> str | None:
    for place in ("inputs", "outputs"):
        value = members_of(event.get(place)).get(name)
        if is_uuid(value):
            return value.lower()
    return None
