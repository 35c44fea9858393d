"""Items of the Responses API, as ``openai-responses``, ``openai-agents`` and ``codex`` hold them.

Every item is one turn, so a list that grew has its old turns unchanged, wherever it was cut. A hosted call that holds
its own result is two: the assistant's call, and a ``tool`` turn. What a turn's own fields do not hold is kept
(``response_item_kept``). Refuses items that are no objects, roles that nobody knows and fields of the wrong type, each
by its path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from agent.errors import MAX_PROBLEMS, Problem
from agent.formats.content_parts import content_text
from agent.formats.conversation.message import Call, Message, Result
from agent.formats.response_item_kept import BEFORE, kept, native_of, without_image
from agent.formats.response_item_kinds import (
    CALLS,
    CUSTOM_CALL,
    CUSTOM_OUTPUT,
    FUNCTION_CALL,
    FUNCTION_OUTPUT,
    OUTPUTS,
    RESULTS,
    ROLES,
    SET,
)
from agent.formats.response_item_results import hosted_result, shown_output
from agent.formats.tool_calls import UNKNOWN_TOOL, ArgumentReader

# Where calls other than functions have what they are called with, the first that is there.
_ARGUMENTS: Final = ("arguments", "input", "action", "actions", "code", "queries", "operation", "prompt")
_SHOWN: Final = {"program_output": "result", "tool_search_output": "tools", "mcp_approval_response": "reason"}
_ANSWERS: Final = {"local_shell_call_output": "id", "mcp_approval_response": "approval_request_id"}
_KIND: Final = re.compile(r"[a-z][a-z0-9_]{0,63}\Z", re.ASCII)


class _At(NamedTuple):
    """Where an item stands: among the turns, and in the document."""

    place: str
    path: str


def read_items(items: list[Any], path: str, problems: list[Problem], *, first: int = 0) -> list[Message]:
    """The turns of ``items``, the list at ``path``; places count from ``first``. Appends to ``problems``."""
    arguments = ArgumentReader()
    messages: list[Message] = []
    for index, item in enumerate(items):
        messages += read_item(item, str(first + index), f"{path}[{index}]", arguments, problems)
        if len(problems) >= MAX_PROBLEMS:
            break
    return messages


def read_item(
    item: Any, place: str, path: str, arguments: ArgumentReader, problems: list[Problem]
) -> tuple[Message, ...]:
    """The turns of one item: one, two where a call holds its result, none where it is refused."""
    if not isinstance(item, dict):
        problems.append(Problem(path, "type"))
        return ()
    found = len(problems)
    kind = _kind_of(item, path, problems)
    if kind is None:
        return ()
    if kind == "message":
        messages = _said(item, place, path, problems)
    elif kind in CALLS or kind.endswith("_call"):
        messages = _called(item, kind, _At(place, path), arguments, problems)
    elif kind in OUTPUTS or kind.endswith("_output"):
        messages = _answered(item, kind, _At(place, path), problems)
    else:
        role = "system" if kind in SET else "assistant"
        messages = (Message(role, "", place, native=native_of(item, {})),)
    return messages if len(problems) == found else ()


def _kind_of(item: Mapping[str, Any], path: str, problems: list[Problem]) -> str | None:
    kind = item.get("type")
    if kind is None:
        if "role" in item:
            return "message"
        if isinstance(item.get("id"), str) and item.keys() <= {"id", "type"}:
            return "item_reference"
        problems.append(Problem(f"{path}.type", "required"))
    elif not isinstance(kind, str):
        problems.append(Problem(f"{path}.type", "type"))
    elif _KIND.match(kind):
        return kind
    else:
        problems.append(Problem(f"{path}.type", "enum"))
    return None


def _said(item: dict[str, Any], place: str, path: str, problems: list[Problem]) -> tuple[Message, ...]:
    found = len(problems)
    role = item.get("role")
    content = content_text(item.get("content"), f"{path}.content", problems)
    if not isinstance(role, str) or role not in ROLES:
        rule = "required" if "role" not in item else "enum" if isinstance(role, str) else "type"
        problems.append(Problem(f"{path}.role", rule))
    elif len(problems) == found:
        return (kept(Message(ROLES[role], content, place), item, "message", "content"),)
    return ()


def _called(
    item: dict[str, Any], kind: str, at: _At, arguments: ArgumentReader, problems: list[Problem]
) -> tuple[Message, ...]:
    if not isinstance(item.get("call_id"), str | None):
        problems.append(Problem(f"{at.path}.call_id", "type"))
    call = _call(item, kind, arguments)
    message = Message("assistant", "", at.place, calls=(call,))
    results = [member for member in RESULTS.get(kind, ()) if item.get(member) is not None]
    if not results:
        return (kept(message, item, kind, None),)
    members = {member: item[member] for member in RESULTS[kind] if member in item}
    content, failed = hosted_result(item, kind, f"{at.path}.{results[0]}", problems)
    answer = Message(
        "tool",
        content,
        f"{at.place}.1",
        results=(Result(call.native_id, call.name, False if failed else None),),
        native={"of": BEFORE, "item": {member: without_image(member, item) for member in members}},
    )
    without = {member: value for member, value in item.items() if member not in members}
    return kept(message, without, kind, None), answer


def _call(item: Mapping[str, Any], kind: str, arguments: ArgumentReader) -> Call:
    name = _text(item.get("name"))
    if name is None:
        name = UNKNOWN_TOOL if kind in (FUNCTION_CALL, CUSTOM_CALL) else kind.removesuffix("_call")
    # A client's call goes by call_id, a hosted one by its own id, and one that has none by its name (CONTRACT 3a).
    members = ("id", "call_id") if kind in RESULTS else ("call_id", "" if kind in CALLS else "id")
    named = None if name == UNKNOWN_TOOL else name
    native_id = next(filter(None, (_text(item.get(member)) for member in members)), named)
    return Call(name, native_id, _arguments(item, kind, arguments))


def _arguments(item: Mapping[str, Any], kind: str, arguments: ArgumentReader) -> Any:
    if kind == CUSTOM_CALL:
        # Free text by definition, also where it looks like JSON.
        return item.get("input", ...)
    for member in (_ARGUMENTS[0],) if kind == FUNCTION_CALL else _ARGUMENTS:
        value = item.get(member)
        if value is not None:
            return arguments.read(value) if member == "arguments" and isinstance(value, str) else value
    return ...


def _answered(item: dict[str, Any], kind: str, at: _At, problems: list[Problem]) -> tuple[Message, ...]:
    found = len(problems)
    if not isinstance(item.get("call_id"), str | None):
        problems.append(Problem(f"{at.path}.call_id", "type"))
    name = _text(item.get("name"))
    hosted = None if kind in (FUNCTION_OUTPUT, CUSTOM_OUTPUT) else kind.removesuffix("_output").removesuffix("_call")
    native_id = _text(item.get("call_id")) or _text(item.get(_ANSWERS.get(kind, "call_id"))) or name or hosted
    member = _SHOWN.get(kind, "output")
    content, success = shown_output(item.get(member), kind, f"{at.path}.{member}", problems)
    if kind == "apply_patch_call_output":
        success = {"completed": True, "failed": False}.get(str(item.get("status")))
    elif kind == "mcp_approval_response" and item.get("approve") is False:
        success = False
    message = Message("tool", content, at.place, results=(Result(native_id, name, success),))
    return (kept(message, item, kind, member),) if len(problems) == found else ()


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
