"""Turns without what was said in them, for a session that is too large to be held whole.

A light turn folds as the turn does: order, history, branches, state, times, roles, agents, tokens and which result
answers which call come out the same. Its text, arguments and other metadata do not: whoever shows it reads it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import Any, Final

from agent.core.turn import SessionTurn

_KEPT: Final = ("timestamp", "captured_at", "version", "execution_ref", "revisions", "token_usage")
_OF_AN_INVOCATION: Final = ("invocation_id", "native_id", "tool_name", "success")


def light(turn: SessionTurn) -> SessionTurn:
    """``turn`` without its content; an erased one has none. An empty one stays: a ``state_only`` turn is told by it."""
    if turn.erased:
        return turn
    fields = {name: turn.fields[name] for name in _KEPT if name in turn.fields}
    metadata = _light_metadata(turn.fields.get("metadata"))
    if metadata:
        fields["metadata"] = metadata
    if turn.invocations:
        fields["tool_invocations"] = [_light_invocation(entry) for entry in turn.invocations]
    parent = turn.parent_turn_id
    return SessionTurn(
        # What many turns have in common is one string: there may be a hundred thousand of them.
        turn_id=intern(turn.turn_id),
        seq=turn.seq,
        conversation_id=intern(turn.conversation_id),
        parent_turn_id=None if parent is None else intern(parent),
        role=turn.role,
        content="" if turn.content == "" else None,
        erased=False,
        fields=fields,
    )


def _light_metadata(metadata: Any) -> dict[str, Any]:
    if not isinstance(metadata, dict):
        return {}
    kept: dict[str, Any] = {}
    if "memory" in metadata:
        # What is no object is passed over by the fold, which names it: that it was there is enough.
        kept["memory"] = metadata["memory"] if isinstance(metadata["memory"], dict) else None
    if isinstance(metadata.get("agent"), str):
        kept["agent"] = metadata["agent"]
    return kept


def _light_invocation(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: entry[name] for name in _OF_AN_INVOCATION if name in entry}
