"""Where content stands in a native payload, and what stays whatever holds (CONTRACT 8).

Content, arguments, metadata and unknown fields go through a rule; ids, roles, names, times, tags, keys, token counts
and what the product itself reads (``metadata.derived``, ``metadata.agent``, most of ``metadata.memory``) do not. What a
foreign format kept beside (``native``) is metadata or an unknown field like any other. Reads a payload that passed
validation, and leaves it as it is: what it gives has the same shape, but for arguments and redacted parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

_OF_ROOT: Final = frozenset({"session_id", "conversation_id"})
_OF_TURN: Final = frozenset({"turn_id", "role", "timestamp", "model", "parent_turn_id"})
_OF_INVOCATION: Final = frozenset({"tool_name", "invocation_id", "success"})
_OF_CONTEXT: Final = frozenset({"agent_id", "user_id", "source_system", "tags"})
_OF_USAGE: Final = frozenset({"prompt_tokens", "completion_tokens", "total_tokens"})
_OF_OPTIONS: Final = frozenset({"create_lineage", "extract_entities", "compute_embeddings", "derive_ids", "content"})
# Ids as they came (CONTRACT 3). Where no id was derived the same names may hold anything, so only a string is one.
_NATIVE_OF_ROOT: Final = frozenset({"native_session_id", "native_conversation_id"})
_NATIVE_OF_TURN: Final = frozenset({"native_id", "native_parent_turn_id"})
_NATIVE_OF_INVOCATION: Final = frozenset({"native_id"})
_NO_NAMES: Final[frozenset[str]] = frozenset()
_LONGEST_ID: Final = 256
# The members of ``metadata.memory`` whose values are content (CONTRACT 8).
_STATE: Final = frozenset({"params", "last_result", "plan_execution"})


class Rule(Protocol):
    """What becomes of content where it stands."""

    def text(self, content: str) -> str:
        """What stands in place of a turn's content."""

    def arguments(self, value: Any) -> Any:
        """What stands in place of a tool's arguments, any JSON value."""

    def member(self, name: str, value: Any) -> Any:
        """What stands in place of a member of metadata, or of an unknown field; its name stays."""


def rewritten(payload: Mapping[str, Any], rule: Rule) -> dict[str, Any]:
    """``payload`` with ``rule`` applied wherever content stands."""
    held: dict[str, Any] = {}
    for name, value in payload.items():
        if name == "turns":
            held[name] = [_turn(turn, rule) for turn in value]
        elif name == "context":
            held[name] = _known(value, _OF_CONTEXT, _NO_NAMES, rule)
        elif name == "capture_options":
            held[name] = _known(value, _OF_OPTIONS, _NO_NAMES, rule)
        else:
            held[name] = value if _stays(name, value, _OF_ROOT, _NATIVE_OF_ROOT) else rule.member(name, value)
    return held


def _turn(turn: Mapping[str, Any], rule: Rule) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for name, value in turn.items():
        if name == "content":
            held[name] = rule.text(value)
        elif name == "metadata":
            held[name] = _metadata(value, rule)
        elif name == "tool_invocations":
            held[name] = [_invocation(invocation, rule) for invocation in value]
        elif name == "token_usage":
            held[name] = _known(value, _OF_USAGE, _NO_NAMES, rule)
        else:
            held[name] = value if _stays(name, value, _OF_TURN, _NATIVE_OF_TURN) else rule.member(name, value)
    return held


def _invocation(invocation: Mapping[str, Any], rule: Rule) -> dict[str, Any]:
    held = _known(invocation, _OF_INVOCATION | {"arguments"}, _NATIVE_OF_INVOCATION, rule)
    if "arguments" in held:
        held["arguments"] = rule.arguments(held["arguments"])
    return held


def _metadata(metadata: Mapping[str, Any], rule: Rule) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for name, value in metadata.items():
        if name == "memory" and isinstance(value, dict):
            held[name] = _memory(value, rule)
        elif (name == "agent" and isinstance(value, str)) or (name == "derived" and _is_names(value)):
            held[name] = value
        else:
            held[name] = rule.member(name, value)
    return held


def _memory(memory: Mapping[str, Any], rule: Rule) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for name, value in memory.items():
        if name == "params" and isinstance(value, dict):
            held[name] = {param: rule.member(param, of_param) for param, of_param in value.items()}
        else:
            held[name] = rule.member(name, value) if name in _STATE else value
    return held


def _known(member: Mapping[str, Any], known: frozenset[str], native: frozenset[str], rule: Rule) -> dict[str, Any]:
    return {
        name: value if _stays(name, value, known, native) else rule.member(name, value)
        for name, value in member.items()
    }


def _stays(name: str, value: Any, known: frozenset[str], native: frozenset[str]) -> bool:
    return name in known or (
        name in native and (value is None or (isinstance(value, str) and len(value) <= _LONGEST_ID))
    )


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)
