"""What readers kept of messages, as far as a provider may be sent it again.

An export gives back what came. A provider takes no digest in place of a picture, no time in a message that has no such
member, and of items that belong together not one alone: what cannot be sent is written from its turn's fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent.core.turn import SessionTurn
from agent.formats.content_parts import digests_in
from agent.formats.prompt_turn import is_made_anew, prompt_turn, with_fields

_OF_ITEMS: Final = frozenset({"openai-responses", "openai-agents"})
_REASONING: Final = "reasoning"
# Items that another one answers by ``call_id``; they need no id of their own, others do.
_CALLS: Final = frozenset(
    {None, "function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call"}
)


def as_sendable(turns: Sequence[SessionTurn], format_name: str) -> tuple[list[SessionTurn], list[str]]:
    """``turns`` without what the provider of ``format_name`` cannot be sent of the messages that they came as.

    And the ids of those that cannot be sent at all.
    """
    found = [_sendable(turn, format_name) for turn in turns]
    return _with_reasoning(found) if format_name in _OF_ITEMS else (found, [])


def _sendable(turn: SessionTurn, format_name: str) -> SessionTurn:
    metadata = turn.fields.get("metadata")
    if not isinstance(metadata, dict):
        return turn
    native = metadata.get("native")
    native = native if isinstance(native, dict) else {}
    absent = metadata.get("native_absent")
    absent = absent if isinstance(absent, list) else []
    is_old = format_name == "openai-chat" and _is_old_chat(native)
    event_absent = native.get("event_absent")
    is_nobodys = format_name == "google-adk" and isinstance(event_absent, list) and "author" in event_absent
    if digests_in(native) or is_old or is_nobodys or (format_name == "gemini" and _is_for_sdk(native, absent)):
        return prompt_turn(turn, is_made=True)
    if format_name == "openai-chat":
        return with_fields(turn, {"metadata": _of_request(metadata, native)}, is_made=False)
    if format_name == "langchain" and "as" in native:
        # A list is of one form, and what is made has this one.
        left = {name: value for name, value in native.items() if name != "as"}
        return with_fields(turn, {"metadata": {**metadata, "native": left}}, is_made=False)
    return turn


def _of_request(metadata: Mapping[str, Any], native: Mapping[str, Any]) -> dict[str, Any]:
    """``metadata`` of a chat message without what a request may not say: its time, and that it has no calls."""
    derived = metadata.get("derived")
    found = {**metadata, "derived": [*(derived if isinstance(derived, list) else ()), "timestamp"]}
    if "native" in metadata:
        found["native"] = {name: value for name, value in native.items() if value is not None or name == "content"}
    return found


def _is_old_chat(native: Mapping[str, Any]) -> bool:
    """Whether it was a call without an id, or the result of one, or says less of a call than a request has to."""
    sent = native.get("tool_calls")
    calls = [call for call in sent if call is not None] if isinstance(sent, list) else []
    are_whole = all(isinstance(call, dict) and {"id", "type"} <= call.keys() for call in calls)
    return native.get("function_call") is not None or native.get("role") == "function" or not are_whole


def _is_for_sdk(native: Mapping[str, Any], absent: Sequence[Any]) -> bool:
    """Whether only Gemini's SDK takes it for a content, or its role is told by its place, or by an old name."""
    members = native.get("fields")
    return "as" in native or "role" in absent or (isinstance(members, dict) and "role" in members)


def _with_reasoning(turns: Sequence[SessionTurn]) -> tuple[list[SessionTurn], list[str]]:
    """``turns`` with reasoning only before what it led to, and no item by its id without what it came behind.

    And the ids of the reasoning that is left out.
    """
    found: list[SessionTurn] = []
    left_out: list[str] = []
    for place, turn in enumerate(turns):
        item = _item(turn)
        if item.get("type") == _REASONING:
            following = turns[place + 1] if place + 1 < len(turns) else None
            if following is None or following.role != "assistant" or following.parent_turn_id != turn.turn_id:
                left_out.append(turn.turn_id)
                continue
        is_parted = turn.parent_turn_id is not None and not (found and found[-1].turn_id == turn.parent_turn_id)
        if turn.role == "tool":
            # Made anew, a call is another kind of item, and so is what answers it.
            is_answer = bool(found) and found[-1].role in ("assistant", "tool") and is_made_anew(found[-1])
            found.append(prompt_turn(turn, is_made=True) if is_answer else turn)
        else:
            found.append(_without_id(turn) if is_parted and "id" in item and turn.role == "assistant" else turn)
    return found, left_out


def _without_id(turn: SessionTurn) -> SessionTurn:
    """``turn`` as an item that the provider does not know: it would ask for the reasoning before the one it knows."""
    item = _item(turn)
    if not turn.invocations or item.get("type") not in _CALLS:
        return prompt_turn(turn, is_made=True)
    metadata = turn.fields["metadata"]
    left = {name: value for name, value in item.items() if name != "id"}
    native = {**metadata["native"], "item": left}
    return with_fields(turn, {"metadata": {**metadata, "native": native}}, is_made=False)


def _item(turn: SessionTurn) -> Mapping[str, Any]:
    metadata = turn.fields.get("metadata")
    native = metadata.get("native") if isinstance(metadata, dict) else None
    item = native.get("item") if isinstance(native, dict) else None
    return item if isinstance(item, dict) else {}
