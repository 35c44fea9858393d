"""The base payload of the field cases, single changes to it, and what is said about them."""

import copy
import json
from typing import Any

import pytest

from agent.capture.validation import validate_payload
from agent.errors import ValidationError

BASE: dict[str, Any] = {
    "session_id": "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61",
    "conversation_id": "b7a1e0d4-5c39-4e82-8f16-2d7c9b0a4e13",
    "turns": [
        {
            "turn_id": "0e9d8c7b-6a54-4321-9fed-cba987654321",
            "role": "user",
            "content": "Where is parcel 4471?",
            "timestamp": "2026-03-02T08:15:00Z",
        },
        {
            "turn_id": "1f2e3d4c-5b6a-4798-8a9b-acbdcedfe0f1",
            "role": "assistant",
            "content": "Let me check.",
            "timestamp": "2026-03-02T08:15:02Z",
            "model": "m-1",
            "token_usage": {"prompt_tokens": 12, "completion_tokens": 4, "total_tokens": 16},
        },
    ],
}
SESSION = BASE["session_id"]
FIRST, SECOND = (turn["turn_id"] for turn in BASE["turns"])
CALL = "11111111-0000-4000-8000-000000000001"
ABSENT = object()


def changed(*path_and_value: Any, payload: dict[str, Any] = BASE) -> dict[str, Any]:
    """A copy of ``payload`` with one member set (or removed, by ABSENT): the path, then the value."""
    *path, last, value = path_and_value
    copied = copy.deepcopy(payload)
    node: Any = copied
    for step in path:
        node = node[step] if isinstance(node, list) else node.setdefault(step, {})
    if value is ABSENT:
        del node[last]
    elif isinstance(node, list) and last == len(node):
        node.append(value)
    else:
        node[last] = value
    return copied


DERIVED = changed("capture_options", "derive_ids", True)


def body_with(metadata: str) -> bytes:
    """The base payload as text, with raw JSON text as the metadata of its first turn."""
    payload = changed("turns", 0, "metadata", "@here")
    return json.dumps(payload).replace('"@here"', metadata).encode()


def refusal(payload: dict[str, Any], **features: Any) -> ValidationError:
    """The error that ``payload`` is refused with."""
    with pytest.raises(ValidationError) as raised:
        validate_payload(payload, **features)
    return raised.value


def problems(payload: dict[str, Any]) -> list[tuple[str, str]]:
    """Path and rule of every problem; none where the payload is accepted."""
    try:
        validate_payload(payload)
    except ValidationError as error:
        return [(problem.path, problem.rule) for problem in error.problems]
    return []
