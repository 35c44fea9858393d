"""The base payload of the field cases, and single changes to it."""

import copy
import json
from typing import Any

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


def body_with(metadata: str) -> bytes:
    """The base payload as text, with raw JSON text as the metadata of its first turn."""
    payload = changed("turns", 0, "metadata", "@here")
    return json.dumps(payload).replace('"@here"', metadata).encode()
