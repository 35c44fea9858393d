"""The parts of pydantic-ai's messages: what is shown of them, and the part that says what a turn says.

A part that came is kept without the members that its turn holds to the letter: an object, which the part made from the
turn completes again. Where the part lacked what the turn would put there, it is kept whole, alone in a list.
Source: ``pydantic_ai.messages``, "Messages and chat history" of its documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agent.formats.content_parts import content_text, without_binaries
from agent.formats.tool_calls import UNKNOWN_TOOL, arguments_text

CALLS: Final = frozenset({"tool-call", "builtin-tool-call"})
RETURNS: Final = frozenset({"tool-return", "builtin-tool-return"})
# Of an answer; all others are of a request, whoever they say that they are of.
ANSWERS: Final = CALLS | {"text", "thinking", "file"}
# A retry that names a tool answers its call; one that does not is said to the model as by a user.
ROLES: Final = {
    "system-prompt": "system",
    "instruction-delta": "system",
    "user-prompt": "user",
    "retry-feedback": "user",
    "retry-prompt": "user",
    "speech": "user",
    "compaction": "user",
    "tool-return": "tool",
    "builtin-tool-return": "tool",
}

_STANDARD_ALPHABET: Final = str.maketrans("-_", "+/")
_LABEL: Final = {"image-url": "image", "audio-url": "audio", "video-url": "video", "document-url": "file"}
_BY_MEDIA_TYPE: Final = frozenset({"binary", "uploaded-file"})
_MEDIA: Final = _LABEL.keys() | _BY_MEDIA_TYPE


def shown(value: Any) -> str:
    """The text that stands for the ``content`` of a part: JSON for what is neither text nor media."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) or _is_user_content(item) for item in value):
        texts = (item if isinstance(item, str) else _item_text(item) for item in value)
        return "\n".join(text for text in texts if text is not None)
    if _is_user_content(value):
        return _item_text(value) or ""
    return arguments_text(_with_placeholders(value))


def _is_user_content(item: Any) -> bool:
    kind = item.get("kind") if isinstance(item, dict) else None
    if kind == "text-content":
        return isinstance(item.get("content"), str)
    return isinstance(kind, str) and (kind in _MEDIA or kind == "cache-point")


def _item_text(item: dict[str, Any]) -> str | None:
    kind = item["kind"]
    if kind == "text-content":
        return str(item["content"])
    return None if kind == "cache-point" else _placeholder(item)


def _placeholder(item: dict[str, Any]) -> str:
    media_type = item.get("media_type")
    main = media_type.partition("/")[0] if isinstance(media_type, str) else ""
    label = _LABEL.get(item["kind"]) or (main if main in {"image", "audio", "video"} else "file")
    return content_text([{"type": label, "media_type": media_type, "url": item.get("url")}], "", [])


def _with_placeholders(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_placeholders(item) for item in value]
    if isinstance(value, dict):
        kind = value.get("kind")
        if isinstance(kind, str) and kind in _MEDIA and ("data" in value or "url" in value or "file_id" in value):
            return _placeholder(value)
        return {name: _with_placeholders(member) for name, member in without_binaries("", value).items()}
    return without_binaries("", value)


def without_media(value: Any) -> Any:
    """``value`` with its large binaries as digests; in base64 for URLs too, which this format's own are in."""
    if isinstance(value, list):
        return [without_media(item) for item in value]
    if not isinstance(value, dict):
        return without_binaries("", value)
    data = value.get("data")
    if value.get("kind") == "binary" and isinstance(data, str):
        standard = without_binaries("", {**value, "data": data.translate(_STANDARD_ALPHABET)})
        return standard if isinstance(standard["data"], dict) else {**standard, "data": data}
    return {name: without_media(member) for name, member in value.items()}


def text_part(kind: str, content: str, timestamp: str | None = None) -> dict[str, Any]:
    """A part that says ``content``."""
    part: dict[str, Any] = {"part_kind": kind, "content": content}
    return part if timestamp is None else part | {"timestamp": timestamp}


def call_part(kind: str, name: str, call_id: str | None, arguments: Any) -> dict[str, Any]:
    """A part that calls; arguments that are no object go as JSON text, for the type has room for no others."""
    args = None if arguments is ... else arguments if isinstance(arguments, dict) else arguments_text(arguments)
    return {"part_kind": kind, "tool_name": name, "args": args, "tool_call_id": call_id}


def return_part(
    kind: str, name: str | None, call_id: str | None, content: str, *, success: bool | None, timestamp: str | None
) -> dict[str, Any]:
    """A part that answers a call."""
    part = {"tool_name": name or UNKNOWN_TOOL, "tool_call_id": call_id} | text_part(kind, content, timestamp)
    if success is not None and kind in RETURNS:
        part["outcome"] = "success" if success else "failed"
    return part


def kept(sent: Mapping[str, Any], made: Mapping[str, Any], *, is_call: bool = False) -> Any:
    """What to keep of the part ``sent`` beside a turn from which ``made`` is made.

    Arguments are text for a tool, also where they look like binary.
    """
    held = {name for name, value in made.items() if name != "part_kind" and sent.get(name, ...) == value}
    left = {name: value for name, value in sent.items() if name not in held}
    if is_call:
        return left if made.keys() <= sent.keys() else [dict(sent)]
    return without_media(left) if made.keys() <= sent.keys() else [without_media(dict(sent))]


def completed(entry: Any, made: Mapping[str, Any]) -> dict[str, Any] | None:
    """The part that was ``kept`` as ``entry``; None where it is nothing that ``kept`` gives."""
    if isinstance(entry, list):
        return entry[0] if len(entry) == 1 and isinstance(entry[0], dict) else None
    return {**made, **entry} if isinstance(entry, dict) else None
