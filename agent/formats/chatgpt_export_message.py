"""One message of a ChatGPT export: what is shown of it, whom it calls or answers, and what is kept.

The export has no published reference; the content types are those of exports that people share. ``metadata.native``
holds every member of the message but its role, its text and its id where they are the turn's, and null in place of
what a tool's message repeats of the call that it answers (``of_call``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from agent.errors import Problem
from agent.formats.content_parts import content_text, without_binaries
from agent.formats.conversation.message import Call, Result
from agent.formats.conversation.times import from_epoch, stated
from agent.formats.tool_calls import ArgumentReader, arguments_text

ROLES: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
# Reasoning is not said to anybody.
_UNSPOKEN: Final = ("thoughts", "reasoning_recap")
# Where content types that are no list of parts have their text: code, execution_output, system_error and tether_quote
# text; tether_browsing_display result; citable_code_output output_str; the contexts a model is given, the rest.
_TEXTS: Final = ("text", "result", "output_str", "model_set_context", "user_profile", "user_instructions", "content")
_LABELS: Final = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "real_time_user_audio_video_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
}
# Shorter strings are names and states ("search", "finished"), which a message has of its own.
_MIN_REPEATED: Final = 12


class Draft(NamedTuple):
    """A message without its place in the tree. ``calls`` is whom it is addressed to, where that is a tool."""

    role: str
    content: str
    timestamp: str | None
    model: str | None
    calls: tuple[Call, ...]
    answers: Result | None
    native: dict[str, Any]
    absent: tuple[str, ...]


def read_message(
    message: Mapping[str, Any], name: str, path: str, arguments: ArgumentReader, problems: list[Problem]
) -> Draft | None:
    """The message of the node ``name`` at ``path``; None where it is refused, with its problems in ``problems``."""
    author = message.get("author")
    author = author if isinstance(author, dict) else {}
    sent = author.get("role")
    if not isinstance(sent, str) or sent not in ROLES:
        rule = "required" if sent is None else "enum" if isinstance(sent, str) else "type"
        problems.append(Problem(f"{path}.author.role", rule))
        return None
    role = ROLES[sent]
    metadata = message.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    text = _shown(message.get("content"))
    recipient = message.get("recipient")
    calls: tuple[Call, ...] = ()
    if role == "assistant" and isinstance(recipient, str) and recipient not in ("", "all"):
        calls = (Call(recipient, recipient, _arguments(text, arguments)),)
    timestamp = from_epoch(message.get("create_time")) or stated(message.get("create_time"))
    model = metadata.get("model_slug")
    return Draft(
        role,
        "" if calls else text,
        timestamp,
        model if isinstance(model, str) and model and role == "assistant" else None,
        calls,
        _result(author, message.get("content"), metadata) if role == "tool" else None,
        _native(message, name, role, timestamp, arguments_text(calls[0].arguments) if calls else text),
        _absent(message),
    )


def _shown(content: Any) -> str:
    if not isinstance(content, dict):
        return content_text(content, "$", [])
    if content.get("content_type") in _UNSPOKEN:
        return ""
    parts = content.get("parts")
    if isinstance(parts, list):
        return "\n".join(text for text in map(_part, parts) if text is not None)
    texts = (content.get(member) for member in _TEXTS)
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _part(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    kind = part.get("content_type")
    if isinstance(part.get("text"), str):
        return str(part["text"])
    if isinstance(kind, str) and kind in _LABELS:
        return f"[{_LABELS[kind]}]"
    return content_text([{"type": kind, **part} if isinstance(kind, str) else part], "$", [])


def _arguments(text: str, reader: ArgumentReader) -> Any:
    """What a tool was sent: an object where it is one; code may look like any other JSON value and is text."""
    value = reader.read(text) if text.lstrip().startswith("{") else text
    return value if isinstance(value, dict) else text


def _result(author: Mapping[str, Any], content: Any, metadata: Mapping[str, Any]) -> Result:
    name = author.get("name")
    name = name if isinstance(name, str) and name else None
    run = metadata.get("aggregate_result")
    run = run if isinstance(run, dict) else {}
    errors = (run.get("in_kernel_exception"), run.get("system_exception"))
    is_error = isinstance(content, dict) and content.get("content_type") == "system_error"
    if is_error or any(error is not None for error in errors):
        return Result(name, name, success=False)
    return Result(name, name, True if run.get("status") == "success" else None)


def _native(message: Mapping[str, Any], name: str, role: str, timestamp: str | None, text: str) -> dict[str, Any]:
    held: dict[str, Any] = {"id": name, "author": {"role": role}}
    native: dict[str, Any] = {}
    for member, value in message.items():
        if member == "content":
            if value != {"content_type": "text", "parts": [text]}:
                native[member] = _kept_content(value, text)
        elif member == "create_time" and isinstance(value, str) and value == timestamp:
            continue
        elif member not in held or value != held[member]:
            native[member] = without_binaries(member, value)
    return native


def _kept_content(content: Any, text: str) -> Any:
    """``content``; null in place of a text that the turn holds."""
    if not isinstance(content, dict):
        return without_binaries("content", content)
    kept: dict[str, Any] = {}
    for member, value in content.items():
        if member == "text" and value == text:
            kept[member] = None
        elif member == "parts" and value == [text]:
            kept[member] = [None]
        else:
            kept[member] = without_binaries("content" if member == "parts" else member, value)
    return kept


def _absent(message: Mapping[str, Any]) -> tuple[str, ...]:
    absent = [member for member in ("id", "content") if member not in message]
    content = message.get("content")
    if isinstance(content, dict) and "text" in content and content["text"] is None:
        # A null of its own, not the mark that the turn holds the text.
        absent.append("content.text")
    return tuple(absent)


def of_call(native: dict[str, Any], call: Call) -> dict[str, Any]:
    """``native`` of a tool's message without the strings of ``call``: erasing the call has to erase them.

    In their places stands null, and ``of_call`` names them: ``[{at, argument}]``, ``at`` the members and indices that
    lead there, ``argument`` which of the strings of the call's arguments it was (``argument_texts``).
    """
    found = {text: place for place, text in reversed(list(enumerate(argument_texts(call.arguments))))}
    found = {text: place for text, place in found.items() if len(text) >= _MIN_REPEATED}
    if not found or "of_call" in native:
        return native
    marks: list[dict[str, Any]] = []
    kept = {name: _without(value, found, [name], marks) for name, value in native.items()}
    return {**kept, "of_call": marks} if marks else native


def argument_texts(arguments: Any) -> list[str]:
    """The strings among ``arguments``, those of an object in the order of its names."""
    texts: list[str] = []
    level = [arguments]
    while level:
        item = level.pop()
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, dict | list):
            level.extend([item[name] for name in sorted(item, reverse=True)] if isinstance(item, dict) else item[::-1])
    return texts


def _without(value: Any, texts: Mapping[str, int], at: list[str | int], marks: list[dict[str, Any]]) -> Any:
    if isinstance(value, str) and value in texts:
        marks.append({"at": at, "argument": texts[value]})
        return None
    if isinstance(value, dict):
        return {name: _without(each, texts, [*at, name], marks) for name, each in value.items()}
    if isinstance(value, list):
        return [_without(each, texts, [*at, place], marks) for place, each in enumerate(value)]
    return value
