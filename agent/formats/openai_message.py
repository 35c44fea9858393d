"""One Chat Completions message, read into what its turn needs, with nothing lost (CONTRACT 3a).

A turn's own fields hold a message exactly or they do not: ``native`` has the message's fields that they do not hold,
``absent`` the names of fields that they suggest and the message lacks. Refuses roles that nobody knows and fields of
the wrong type, each by its path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from agent.core.timestamps import is_date_time
from agent.errors import Problem
from agent.formats.content_parts import content_text, without_binaries
from agent.formats.tool_calls import ArgumentReader, ToolCall, read_function_call, read_tool_calls

ROLES: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}

# What an answer says beside its message, among what is kept of that; the turn names it as derived.
ANSWER: Final = "answer"

# Kept to the letter: what they hold is text for a tool, also where it looks like binary.
_CALL_FIELDS: Final = frozenset({"tool_calls", "function_call"})


class MessageDraft(NamedTuple):
    """A message without what only its list can tell: ids, a missing time, the tool that a result belongs to.

    ``calls`` are what a message other than a tool's calls. ``result_of`` is the native id of the call that a tool's
    message answers, ``tool_name`` the name that it gives itself; each None where it is not told. ``is_error``: the
    result is one, which only records of runs say (an ``error`` object beside the content).
    """

    role: str
    content: str
    timestamp: str | None
    calls: tuple[ToolCall, ...]
    result_of: str | None
    tool_name: str | None
    native: dict[str, Any]
    absent: tuple[str, ...]
    is_error: bool


def read_message(message: object, path: str, arguments: ArgumentReader, problems: list[Problem]) -> MessageDraft | None:
    """Read the message at ``path``; None where it is refused. Appends every finding to ``problems``."""
    if not isinstance(message, dict):
        problems.append(Problem(path, "type"))
        return None
    found = len(problems)
    role = _role(message, path, problems)
    content = content_text(message.get("content"), f"{path}.content", problems)
    calls = () if role == "tool" else tuple(_calls(message, path, arguments, problems))
    answers = message.get("tool_call_id") if role == "tool" else None
    if answers is not None and not isinstance(answers, str):
        problems.append(Problem(f"{path}.tool_call_id", "type"))
    if role is None or len(problems) > found:
        return None
    name = message.get("name", message.get("function"))
    tool_name = name if role == "tool" and isinstance(name, str) and name else None
    # A result without a call id names the function, as the old function role does (CONTRACT 3a).
    result_of = tool_name if answers is None else answers
    shown = content or _spoken_elsewhere(message)
    timestamp = message.get("timestamp")
    timestamp = timestamp if is_date_time(timestamp) else None
    held = _held(role, shown, timestamp)
    absent = tuple(field for field in held if field not in message)
    native = _not_held(message, held, calls)
    is_error = role == "tool" and isinstance(message.get("error"), dict)
    return MessageDraft(role, shown, timestamp, calls, result_of, tool_name, native, absent, is_error)


def _role(message: dict[str, Any], path: str, problems: list[Problem]) -> str | None:
    role = message.get("role")
    if isinstance(role, str) and role in ROLES:
        return ROLES[role]
    rule = "required" if "role" not in message else "enum" if isinstance(role, str) else "type"
    problems.append(Problem(f"{path}.role", rule))
    return None


def _calls(
    message: dict[str, Any], path: str, arguments: ArgumentReader, problems: list[Problem]
) -> Iterator[ToolCall]:
    yield from read_tool_calls(message.get("tool_calls"), f"{path}.tool_calls", arguments, problems)
    function_call = message.get("function_call")
    if isinstance(function_call, dict):
        yield read_function_call(function_call, arguments)
    elif function_call is not None:
        problems.append(Problem(f"{path}.function_call", "type"))


def _spoken_elsewhere(message: dict[str, Any]) -> str:
    """What was said where ``content`` is empty: a refusal, the transcript of spoken audio, or that audio was there."""
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        return refusal
    audio = message.get("audio")
    if not isinstance(audio, dict):
        return ""
    transcript = audio.get("transcript")
    return transcript if isinstance(transcript, str) and transcript else "[audio]"


def _held(role: str, shown: str, timestamp: str | None) -> dict[str, str]:
    """The fields that whoever reads the turn will take the message to have had.

    Not a result's ``tool_call_id``: the pairing is derived, so the id as sent stands with the message.
    """
    held = {"role": role, "content": shown}
    if timestamp is not None:
        held["timestamp"] = timestamp
    return held


def _not_held(message: dict[str, Any], held: dict[str, str], calls: tuple[ToolCall, ...]) -> dict[str, Any]:
    native: dict[str, Any] = {}
    for field, value in message.items():
        if field == "tool_calls" and value and calls:
            if not all(call.exact for call in calls[: len(value)]):
                # By place: the whole call, or null where its invocation holds it exactly.
                native[field] = [None if call.exact else sent for call, sent in zip(calls, value, strict=False)]
        elif field in _CALL_FIELDS:
            native[field] = value
        elif field not in held or value != held[field]:
            native[field] = without_binaries(field, value)
    return native
