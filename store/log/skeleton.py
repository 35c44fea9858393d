"""What stays of an erased turn (CONTRACT 10a): its ids, its place and its role, and what it does to the history.

No content, no time, no name. Of ``metadata.memory`` (CONTRACT 9) stay the members that are structure: a reset, a cut,
a leaf that is named, and that the turn is no message. Without them turns that were cleared would come back into every
history. A value that is not of the contract's shape may be anything that was said, and goes.
"""

from __future__ import annotations

from typing import Any, Final

from agent.core.graph import is_state_only
from agent.core.ids import is_uuid
from agent.core.numbers import whole_number
from store.log.envelope import encode_sent

# CONTRACT 1: any other text under this name is of another writer, and may say anything.
_ROLES: Final = ("user", "assistant", "system", "tool")
# No history is as long; a number with more digits could spell something.
_MOST_KEPT: Final = 2**53


def skeleton(fields: dict[str, Any]) -> tuple[bytes, bytes]:
    """The two pieces of an erased turn's text (SentTurn.text). The skeleton of a skeleton is itself."""
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
    memory = _kept_memory(fields)
    others |= {"metadata": {"memory": memory}} if memory else {}
    head = encode_sent(ours)[:-1]
    return (head + b"," if others else head), encode_sent(others)[1:]


def _kept_memory(fields: dict[str, Any]) -> dict[str, Any]:
    """What ``metadata.memory`` says of the history, written anew: its numbers and ids may be spelt in many ways."""
    metadata = fields.get("metadata")
    memory = metadata.get("memory") if isinstance(metadata, dict) else None
    if not isinstance(memory, dict):
        return {}
    kept: dict[str, Any] = {}
    reset, keep_last, leaf = (memory.get(name) for name in ("reset", "keep_last", "leaf"))
    if reset is True or reset == "all":
        kept["reset"] = reset
    count = whole_number(keep_last)
    if count is not None and 0 <= count <= _MOST_KEPT:
        kept["keep_last"] = count
    if is_uuid(leaf):
        kept["leaf"] = leaf.lower()
    # Of a turn that says something it means nothing (CONTRACT 9); without its content nobody could tell any more.
    if is_state_only({"role": None, **fields}):
        kept["state_only"] = True
    return kept
