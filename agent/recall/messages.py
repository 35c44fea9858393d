"""Turns as the messages that the read side shows: what was said, by whom and when, with calls and results as pairs.

A message has no member that its turn does not have. What another writer left in a place that should hold a name or a
list is left out, and everything that was captured stays in ``metadata`` as it came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agent.core.pairs import Call, Place, named_invocations, native_id
from agent.core.turn import SessionTurn
from agent.formats.tool_calls import UNKNOWN_TOOL

# As they were captured, whatever they are (CONTRACT 1).
_OF_A_TURN: Final = ("model", "token_usage")


def message(turn: SessionTurn, *, agent: str | None, pairs: Mapping[Place, Call]) -> dict[str, Any]:
    """``turn``, whole, as a message; ``agent`` spoke it, ``pairs`` are those of its session.

    An erased one is its skeleton: its content is null.
    """
    shown: dict[str, Any] = {"role": turn.role, "content": turn.content, "timestamp": turn.timestamp}
    if agent is not None:
        shown["agent"] = agent
    metadata = turn.fields.get("metadata")
    citations = metadata.get("citations") if isinstance(metadata, dict) else None
    if isinstance(citations, list):
        shown["citations"] = citations
    shown |= {"turn_id": turn.turn_id, "seq": turn.seq, "conversation_id": turn.conversation_id}
    native = native_id(turn.fields)
    if native is not None:
        shown["native_id"] = native
    shown |= {name: turn.fields[name] for name in _OF_A_TURN if name in turn.fields}
    if turn.erased:
        shown["erased"] = True
    invocations = [
        _result(entry, pairs.get(place), invocation_id) if turn.role == "tool" else _call(entry, invocation_id)
        for place, invocation_id, entry in named_invocations(turn)
    ]
    if invocations:
        shown["tool_results" if turn.role == "tool" else "tool_calls"] = invocations
    if metadata is not None:
        shown["metadata"] = metadata
    return shown


def _call(entry: Mapping[str, Any], invocation_id: str) -> dict[str, Any]:
    call: dict[str, Any] = {"invocation_id": invocation_id}
    native = native_id(entry)
    if native is not None:
        call["native_id"] = native
    call["tool_name"] = _tool_name(entry)
    return call | {name: entry[name] for name in ("arguments", "success") if name in entry}


def _result(entry: Mapping[str, Any], answered: Call | None, invocation_id: str) -> dict[str, Any]:
    """A result under the id of the call that it answers, wherever that was captured."""
    result = {
        "invocation_id": invocation_id if answered is None else answered.invocation_id,
        "tool_name": _tool_name(entry),
    }
    return result | {name: entry[name] for name in ("success",) if name in entry}


def _tool_name(entry: Mapping[str, Any]) -> str:
    tool_name = entry.get("tool_name")
    return tool_name if isinstance(tool_name, str) else UNKNOWN_TOOL
