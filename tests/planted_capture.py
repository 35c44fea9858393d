"""A capture with a planted secret in every place that a caller fills, names and keys too."""

from __future__ import annotations

from typing import Any

from tests.leak_watch import SECRET

# A session's own id is a caller's text too.
SESSION = f"{SECRET} of ann@example.org/1"
CONVERSATION = f"conversation {SECRET}"
MEMORY = {
    "params": {"order_id": SECRET, SECRET: SECRET, f"key {SECRET}": 1},
    "waiting_for_param": "delivery_date",
    "last_intent_id": SECRET,
    "last_result": {"rows": [SECRET]},
    "plan_execution": {"steps": [{"do": SECRET}], SECRET: None},
    "importance": 0.5,
    "more": SECRET,
}
_CALL = {"tool_name": "track", "invocation_id": "c1", "arguments": {"card": SECRET, SECRET: 1}, "success": True}


def turn(number: int, role: str, content: str, **more: Any) -> dict[str, Any]:
    timestamp = f"2026-03-02T08:15:{number:02}Z"
    return {"turn_id": f"t{number}", "role": role, "content": content, "timestamp": timestamp, **more}


def payload() -> dict[str, Any]:
    """The capture, yours to change; its ids are no UUIDs."""
    return {
        "session_id": SESSION,
        "conversation_id": CONVERSATION,
        "turns": [
            turn(1, "system", f"The password is {SECRET}"),
            turn(2, "user", f"my card is {SECRET}", metadata={"note": SECRET, SECRET: [SECRET]}),
            turn(3, "assistant", "", tool_invocations=[dict(_CALL)]),
            turn(4, "tool", SECRET, tool_invocations=[dict(_CALL)]),
            turn(
                5, "assistant", f"{SECRET}: when shall it come?", metadata={"memory": dict(MEMORY), "agent": "seller"}
            ),
        ],
        "context": {"user_id": SECRET, "agent_id": "shop", "tags": [SECRET], "source_system": SECRET},
        "capture_options": {"derive_ids": True},
        SECRET: SECRET,
    }
