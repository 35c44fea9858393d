"""What stays of an erased turn (CONTRACT 10a): its ids, its place and its role. No content, no time, no name."""

from __future__ import annotations

from typing import Any, Final

from agent.core.ids import is_uuid
from store.log.envelope import encode_sent

# CONTRACT 1: any other text under this name is of another writer, and may say anything.
_ROLES: Final = ("user", "assistant", "system", "tool")


def skeleton(fields: dict[str, Any]) -> tuple[bytes, bytes]:
    """The two pieces of an erased turn's text (SentTurn.text)."""
    ours: dict[str, Any] = {"turn_id": fields["turn_id"]}
    if "parent_turn_id" in fields:
        ours["parent_turn_id"] = fields["parent_turn_id"]
    ours["erased"] = True
    role = fields.get("role")
    others: dict[str, Any] = {"role": role} if role in _ROLES else {}
    invocations = fields.get("tool_invocations")
    if isinstance(invocations, list):
        named = [entry.get("invocation_id") for entry in invocations if isinstance(entry, dict)]
        ids = [{"invocation_id": value} for value in named if is_uuid(value)]
        others |= {"tool_invocations": ids} if ids else {}
    head = encode_sent(ours)[:-1]
    return (head + b"," if others else head), encode_sent(others)[1:]
