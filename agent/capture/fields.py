"""Fields that are accepted and kept but perhaps not meant (CONTRACT 1): unknown names, odd types below metadata.

They are answered as ``warnings``, never refused. Reads a payload that passed validation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from agent.core.json_path import json_path
from agent.core.payload_fields import (
    NATIVE_AT_ROOT,
    NATIVE_ON_INVOCATIONS,
    NATIVE_ON_TURNS,
    OF_CONTEXT,
    OF_OPTIONS,
    OF_USAGE,
)
from agent.errors import MAX_PROBLEMS, Problem

_Parts = tuple[str | int, ...]

_ROOT: Final = frozenset({"session_id", "conversation_id", "turns", "context", "capture_options"})
_TURN: Final = frozenset(
    {
        "turn_id",
        "role",
        "content",
        "timestamp",
        "model",
        "token_usage",
        "tool_invocations",
        "parent_turn_id",
        "metadata",
    }
)
_INVOCATION: Final = frozenset({"tool_name", "invocation_id", "success", "arguments"})
# What has a meaning below metadata, by type; anything else may stand there.
_METADATA: Final[Mapping[str, type]] = {"memory": dict, "agent": str, "citations": list}


def warnings_for(payload: Mapping[str, Any], *, derived: bool = False) -> list[Problem]:
    """The warnings about ``payload``, at most 50: ``unknown_field``, and ``type`` for odd metadata.

    ``derived`` says that ids were derived: the ``native_*`` fields are then ours and no surprise.
    """
    found = islice(_surprises(payload, derived=derived), MAX_PROBLEMS)
    return [Problem(json_path(parts), rule) for parts, rule in found]


def _surprises(payload: Mapping[str, Any], *, derived: bool) -> Iterator[tuple[_Parts, str]]:
    root, of_turn, of_invocation = (
        (_ROOT.union(NATIVE_AT_ROOT), _TURN.union(NATIVE_ON_TURNS), _INVOCATION.union(NATIVE_ON_INVOCATIONS))
        if derived
        else (_ROOT, _TURN, _INVOCATION)
    )
    if not root.issuperset(payload):
        yield from _unknown(payload, root, ())
    for name, known in (("context", OF_CONTEXT), ("capture_options", OF_OPTIONS)):
        member = payload.get(name)
        if member and not known.issuperset(member):
            yield from _unknown(member, known, (name,))
    for place, turn in enumerate(payload["turns"]):
        if not of_turn.issuperset(turn):
            yield from _unknown(turn, of_turn, ("turns", place))
        # Most turns have the four required fields and nothing to look into.
        if len(turn) > 4 and not _is_usual(turn, of_invocation):
            yield from _inside(turn, of_invocation, ("turns", place))


def _is_usual(turn: Mapping[str, Any], of_invocation: frozenset[str]) -> bool:
    """Whether ``_inside`` finds nothing, as far as a quick look tells; False decides nothing."""
    return (
        OF_USAGE.issuperset(turn.get("token_usage", ()))
        and all(map(of_invocation.issuperset, turn.get("tool_invocations", ())))
        and ("metadata" not in turn or _METADATA.keys().isdisjoint(turn["metadata"].keys()))
    )


def _inside(turn: Mapping[str, Any], of_invocation: frozenset[str], at: _Parts) -> Iterator[tuple[_Parts, str]]:
    if usage := turn.get("token_usage"):
        yield from _unknown(usage, OF_USAGE, (*at, "token_usage"))
    for place, invocation in enumerate(turn.get("tool_invocations", ())):
        yield from _unknown(invocation, of_invocation, (*at, "tool_invocations", place))
    metadata = turn.get("metadata")
    if metadata:
        for name, kind in _METADATA.items():
            if name in metadata and not isinstance(metadata[name], kind):
                yield (*at, "metadata", name), "type"


def _unknown(member: Mapping[str, Any], known: Collection[str], at: _Parts) -> Iterator[tuple[_Parts, str]]:
    for name in member:
        if name not in known:
            yield (*at, name), "unknown_field"
