"""Where content stands in a native payload, and what stays whatever holds (CONTRACT 8).

Content, arguments, metadata and unknown fields go through a rule; ids, roles, names, times, tags, keys, token counts
and what the product itself reads (``metadata.derived``, ``metadata.agent``, most of ``metadata.memory``) do not. Of the
last two only what the product understands stays: a member that says nothing to it is an unknown field. What a foreign
format kept beside (``native``) is one, too. Reads a payload that passed validation, and leaves it as it is: what it
gives has the same shape, but for arguments and redacted parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol

from agent.core.ids import is_uuid
from agent.core.payload_fields import (
    NATIVE_AT_ROOT,
    NATIVE_ON_INVOCATIONS,
    NATIVE_ON_TURNS,
    OF_CONTEXT,
    OF_OPTIONS,
    OF_USAGE,
)

_OF_ROOT: Final = frozenset({"session_id", "conversation_id"})
_OF_TURN: Final = frozenset({"turn_id", "role", "timestamp", "model", "parent_turn_id"})
_OF_INVOCATION: Final = frozenset({"tool_name", "invocation_id", "success"})
# Of an id as it came (CONTRACT 3). Where no id was derived the names of such may hold anything: a short string is taken
# for one, since exports have them and readers pair by them; all else is an unknown field.
_LONGEST_ID: Final = 256
# What readers write there: what of a turn was derived (CONTRACT 3), whose names are those of its fields.
_DERIVED: Final = frozenset({"timestamp", "model", "token_usage", "role", "parent_turn_id"})


def _is_name(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


# The members of ``metadata.memory`` that are no content (CONTRACT 8, 9), where they are what the contract says. null
# and booleans stay everywhere.
_MEMORY: Final[Mapping[str, Callable[[Any], bool]]] = MappingProxyType(
    {
        "waiting_for_param": _is_name,
        "last_intent_id": _is_name,
        "reset": "all".__eq__,
        "keep_last": _is_number,
        "leaf": is_uuid,
        "importance": lambda value: _is_number(value) and 0 <= value <= 1,
        "task": "complete".__eq__,
    }
)


class Rule(Protocol):
    """What becomes of content where it stands."""

    def text(self, content: str) -> str:
        """What stands in place of a turn's content."""

    def arguments(self, value: Any) -> Any:
        """What stands in place of a tool's arguments, any JSON value."""

    def member(self, name: str, value: Any) -> Any:
        """What stands in place of a member of metadata, or of an unknown field; its name stays."""


def rewritten(payload: Mapping[str, Any], rule: Rule, *, ids_derived: bool = False) -> dict[str, Any]:
    """``payload`` with ``rule`` applied wherever content stands.

    ``ids_derived``: its native ids are ours, whatever their length, and not fields that a caller named so.
    """
    longest = None if ids_derived else _LONGEST_ID
    held: dict[str, Any] = {}
    for name, value in payload.items():
        if name == "turns":
            held[name] = [_turn(turn, rule, longest) for turn in value]
        elif name == "context":
            held[name] = _known(value, OF_CONTEXT, rule)
        elif name == "capture_options":
            held[name] = _known(value, OF_OPTIONS, rule)
        elif name in _OF_ROOT or (name in NATIVE_AT_ROOT and _is_native_id(value, longest)):
            held[name] = value
        else:
            held[name] = rule.member(name, value)
    return held


def _turn(turn: Mapping[str, Any], rule: Rule, longest: int | None) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for name, value in turn.items():
        if name == "content":
            held[name] = rule.text(value)
        elif name == "metadata":
            held[name] = _metadata(value, rule)
        elif name == "tool_invocations":
            held[name] = [_invocation(invocation, rule, longest) for invocation in value]
        elif name == "token_usage":
            held[name] = _known(value, OF_USAGE, rule)
        elif name in _OF_TURN or (name in NATIVE_ON_TURNS and _is_native_id(value, longest)):
            held[name] = value
        else:
            held[name] = rule.member(name, value)
    return held


def _invocation(invocation: Mapping[str, Any], rule: Rule, longest: int | None) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for name, value in invocation.items():
        if name == "arguments":
            held[name] = rule.arguments(value)
        elif name in _OF_INVOCATION or (name in NATIVE_ON_INVOCATIONS and _is_native_id(value, longest)):
            held[name] = value
        else:
            held[name] = rule.member(name, value)
    return held


def _metadata(metadata: Mapping[str, Any], rule: Rule) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for name, value in metadata.items():
        if name == "memory" and isinstance(value, dict):
            held[name] = _memory(value, rule)
        elif name == "agent" and isinstance(value, str):
            held[name] = value
        elif name == "derived" and isinstance(value, list):
            held[name] = [item if _is_derived(item) else rule.member("", item) for item in value]
        else:
            held[name] = rule.member(name, value)
    return held


def _memory(memory: Mapping[str, Any], rule: Rule) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for name, value in memory.items():
        if name == "params" and isinstance(value, dict):
            held[name] = {param: rule.member(param, of_param) for param, of_param in value.items()}
        else:
            stays = name in _MEMORY and _MEMORY[name](value) is True
            held[name] = value if stays else rule.member(name, value)
    return held


def _known(member: Mapping[str, Any], known: frozenset[str], rule: Rule) -> dict[str, Any]:
    return {name: value if name in known else rule.member(name, value) for name, value in member.items()}


def _is_native_id(value: Any, longest: int | None) -> bool:
    return value is None or (isinstance(value, str) and (longest is None or len(value) <= longest))


def _is_derived(name: Any) -> bool:
    return isinstance(name, str) and name in _DERIVED
