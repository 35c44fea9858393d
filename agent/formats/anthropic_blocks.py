"""The content blocks of the Messages API (Anthropic API reference, Messages), as calls, results and texts.

``tool_use``, ``server_tool_use``, ``mcp_tool_use`` and their like call; ``tool_result`` and the results of servers'
tools answer. What is thought, compacted or listed for the model shows nothing. Any other block shows what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent.errors import Problem
from agent.formats.blocks.message import Demands, Dialect, Seen
from agent.formats.content_parts import content_text, without_binaries
from agent.formats.conversation.message import Call, Result

_SILENT: Final = frozenset({"thinking", "redacted_thinking", "compaction", "fallback", "mcp_tool_listing"})
# What a result of a server's tool says, in the members that hold it: a page, a program's output, an advice, an error.
_SAYING: Final = ("title", "url", "text", "stdout", "stderr", "tool_name", "error_code", "error_message")
_HOLDING: Final = ("content", "tool_references")


def is_call(kind: str) -> bool:
    """Whether a block of this type calls a tool."""
    return kind == "tool_use" or kind.endswith("_tool_use")


def is_result(kind: str) -> bool:
    """Whether a block of this type is the result of a call."""
    return kind == "tool_result" or kind.endswith("_tool_result")


def _see(block: Mapping[str, Any], path: str, problems: list[Problem]) -> Seen:
    kind = block.get("type", "text" if "text" in block else "block")
    if not isinstance(kind, str):
        problems.append(Problem(f"{path}.type", "type"))
        return Seen()
    if is_call(kind):
        return _call_of(block, path, problems)
    if is_result(kind):
        return _result_of(block, kind, path, problems)
    if kind in _SILENT:
        return Seen()
    if kind == "text" and isinstance(block.get("text", ""), str):
        return Seen(block.get("text"))
    found = len(problems)
    shown = content_text([dict(block)], "$", problems)
    if len(problems) > found:
        problems[found:] = [Problem(f"{path}.text", "type")]
    return Seen(shown)


def _call_of(block: Mapping[str, Any], path: str, problems: list[Problem]) -> Seen:
    name, native_id = block.get("name"), block.get("id")
    name = name if isinstance(name, str) else ""
    if native_id is not None and not isinstance(native_id, str):
        problems.append(Problem(f"{path}.id", "type"))
        return Seen()
    return Seen(call=Call(name, (name or None) if native_id is None else native_id, block.get("input", ...)))


def _result_of(block: Mapping[str, Any], kind: str, path: str, problems: list[Problem]) -> Seen:
    native_id, content = block.get("tool_use_id"), block.get("content")
    found = len(problems)
    if native_id is not None and not isinstance(native_id, str):
        problems.append(Problem(f"{path}.tool_use_id", "type"))
    if content is not None and not isinstance(content, str | list | dict):
        problems.append(Problem(f"{path}.content", "type"))
    if len(problems) > found:
        return Seen()
    is_error = block.get("is_error")
    success = not is_error if isinstance(is_error, bool) else None
    if kind != "tool_result" and isinstance(content, dict) and "error_code" in content:
        success = False
    return Seen("\n".join(_told(content)), result=Result(native_id, success=success))


def _told(value: Any) -> Iterator[str]:
    """What a result says: texts as they are, of anything else what it is."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _told(each)
    elif isinstance(value, dict):
        kind = value.get("type")
        if kind == "text":
            yield from _told(value.get("text"))
        elif kind in ("image", "document", "search_result"):
            yield content_text([value], "$", [])
        else:
            yield from _told_by_server(value)


def _told_by_server(value: Mapping[str, Any]) -> Iterator[str]:
    said = [value[name] for name in _SAYING if isinstance(value.get(name), str) and value[name]]
    held = [text for name in _HOLDING for text in _told(value.get(name))]
    if not value.keys() & {*_SAYING, *_HOLDING} and isinstance(value.get("type"), str):
        said = [content_text([dict(value)], "$", [])]
    yield from said
    yield from held


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _call(native_id: str, name: str, arguments: Any) -> dict[str, Any]:
    """A call; ``input`` has to be an object, and what is none becomes the only member of one."""
    held = {} if arguments is ... else arguments if isinstance(arguments, dict) else {"arguments": arguments}
    return {"type": "tool_use", "id": native_id, "name": name, "input": held}


def _results(result: Result, content: str) -> list[dict[str, Any]]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.native_id}
    if result.success is not None:
        block["is_error"] = not result.success
    return [block | {"content": [_text(content)] if content else []}, block | {"content": content}]


def _compact(block: Any) -> Any:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or is_call(kind):
        # What a tool is called with is text for it, also where it looks like binary.
        return block
    if is_result(kind) and isinstance(block.get("content"), list):
        return {**block, "content": [_without_binaries(each) for each in block["content"]]}
    return _without_binaries(block)


def _without_binaries(block: Any) -> Any:
    is_typed = isinstance(block, dict) and isinstance(block.get("type", "text"), str)
    return without_binaries("content", [block])[0] if is_typed else without_binaries("", block)


DIALECT: Final = Dialect("anthropic", _see, _text, _call, _results, _compact, system_is_text=True)
# The Messages API's patterns of a tool's name and of a call's id.
DEMANDS: Final = Demands(tool_name=r"[A-Za-z0-9_-]{1,128}", call_id=r"[A-Za-z0-9_-]+", arguments_are_objects=True)
