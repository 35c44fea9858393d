"""Turns that call and turns that hold results, as readers of a session see them."""

from __future__ import annotations

from typing import Any

from agent.core.ids import is_uuid, name_uuid
from agent.core.native import derive_ids
from agent.core.turn import SessionTurn

SESSION = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"
CONVERSATION = "b7a1e0d4-5c39-4e82-8f16-2d7c9b0a4e13"


def turn_id(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012x}"


def turn(
    number: int,
    role: str,
    *invocations: Any,
    after: int | None = None,
    conversation: str = CONVERSATION,
    content: str | None = "words",
    **members: Any,
) -> SessionTurn:
    """Turn ``number``, with its ``seq``, which continues the turn ``after``."""
    fields: dict[str, Any] = {"role": role, "content": content, **members}
    if invocations:
        fields["tool_invocations"] = list(invocations)
    return SessionTurn(
        turn_id=turn_id(number),
        seq=number,
        conversation_id=conversation,
        parent_turn_id=None if after is None else turn_id(after),
        role=role,
        content=content,
        erased=content is None,
        fields=fields,
    )


def call_id(name: str) -> str:
    """The UUID of an invocation that a test calls ``name``, in upper case where the name is not in lower."""
    found = name if is_uuid(name) else name_uuid(f"call {name.lower()}")
    return found if name == name.lower() else found.upper()


def invocation(name: str, native: Any = None, **members: Any) -> dict[str, Any]:
    """An entry of ``tool_invocations`` with ``call_id(name)``; ``native`` is the native string beside it."""
    entry = {"tool_name": "look", "invocation_id": call_id(name), **members}
    return entry if native is None else {**entry, "native_id": native}


def captured_at_once(payload: dict[str, Any]) -> list[SessionTurn]:
    """The turns of a session that ``payload`` alone made, in the order and with the parents that the store gives."""
    native = derive_ids(payload) if payload.get("capture_options", {}).get("derive_ids", False) else payload
    turns: list[SessionTurn] = []
    for number, sent in enumerate(native["turns"], 1):
        parent = sent.get("parent_turn_id", turns[-1].turn_id if turns else None)
        turns.append(
            SessionTurn(
                turn_id=sent["turn_id"].lower(),
                seq=number,
                conversation_id=native["conversation_id"].lower(),
                parent_turn_id=None if parent is None else parent.lower(),
                role=sent["role"],
                content=sent["content"],
                erased=False,
                fields=sent,
            )
        )
    return turns
