"""The content blocks of the Converse API (Amazon Bedrock API reference, ContentBlock), as calls, results and texts.

A block is an object with one member that says what it is: ``{"text": ...}``, ``{"toolUse": ...}``,
``{"toolResult": ...}``. Reasoning and cache points show nothing, media show what they are.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent.core.canonical import encode, sha256_hex
from agent.errors import Problem
from agent.formats.blocks.message import Demands, Dialect, Seen
from agent.formats.content_parts import MAX_BINARY_BYTES
from agent.formats.conversation.message import Call, Result

BLOCKS: Final = frozenset(
    {"text", "image", "document", "video", "audio", "toolUse", "toolResult", "guardContent", "cachePoint"}
    | {"reasoningContent", "citationsContent", "searchResult", "toolAddition", "toolRemoval"}
)
_SILENT: Final = frozenset({"cachePoint", "reasoningContent"})
_MEDIA: Final = frozenset({"image", "document", "video", "audio"})
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
# Media types of the formats that their own names do not tell (IANA).
_TYPES: Final = {
    "pdf": "application/pdf",
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "html": "text/html",
    "txt": "text/plain",
    "md": "text/markdown",
    "mp3": "audio/mpeg",
    "mkv": "video/x-matroska",
    "mov": "video/quicktime",
    "three_gp": "video/3gpp",
}


def kind_of(block: Mapping[str, Any]) -> str | None:
    """The member that says what ``block`` is; of one that nobody knows the first."""
    known = next((name for name in block if name in BLOCKS), None)
    return known or next(iter(block), None)


def _see(block: Mapping[str, Any], path: str, problems: list[Problem]) -> Seen:
    kind = kind_of(block)
    if kind in ("toolUse", "toolResult"):
        return _call_or_result(kind, block[kind], f"{path}.{kind}", problems)
    if kind == "text":
        text = block["text"]
        if text is not None and not isinstance(text, str):
            problems.append(Problem(f"{path}.text", "type"))
            return Seen()
        return Seen(text)
    return Seen() if kind in _SILENT else Seen("\n".join(_shown(block)))


def _call_or_result(kind: str, value: Any, path: str, problems: list[Problem]) -> Seen:
    if not isinstance(value, dict):
        problems.append(Problem(path, "type"))
        return Seen()
    native_id = value.get("toolUseId")
    if native_id is not None and not isinstance(native_id, str):
        problems.append(Problem(f"{path}.toolUseId", "type"))
        return Seen()
    return _call_of(value, native_id) if kind == "toolUse" else _result_of(value, native_id, path, problems)


def _call_of(call: Mapping[str, Any], native_id: str | None) -> Seen:
    name = call.get("name")
    name = name if isinstance(name, str) else ""
    return Seen(call=Call(name, (name or None) if native_id is None else native_id, call.get("input", ...)))


def _result_of(result: Mapping[str, Any], native_id: str | None, path: str, problems: list[Problem]) -> Seen:
    content = result.get("content")
    if content is not None and not isinstance(content, list):
        problems.append(Problem(f"{path}.content", "type"))
        return Seen()
    texts = [text for block in content or () for text in _shown(block)]
    status = result.get("status")
    success = {"success": True, "error": False}.get(status) if isinstance(status, str) else None
    return Seen("\n".join(texts), result=Result(native_id, success=success))


def _shown(block: Any) -> Iterator[str]:
    """What is shown of a block that is no call and no result: its text, or what it is."""
    if not isinstance(block, dict):
        return
    kind = kind_of(block)
    value = None if kind is None else block[kind]
    if kind == "text" and isinstance(value, str):
        yield value
    elif kind == "json":
        # Of a result: an answer as data.
        yield encode(value).decode()
    elif kind == "guardContent" and isinstance(value, dict) and isinstance(value.get("text"), dict):
        yield from _shown(value["text"])
    elif kind == "citationsContent" and isinstance(value, dict) and isinstance(value.get("content"), list):
        for each in value["content"]:
            yield from _shown(each)
    elif kind not in _SILENT:
        yield _placeholder(kind, value)


def _placeholder(kind: str | None, value: Any) -> str:
    label = kind if kind is not None and _PLAIN.fullmatch(kind) else "part"
    media_type = _media_type(kind, value)
    label = "file" if kind == "document" else label
    return f"[{label}]" if media_type is None else f"[{label}: {media_type}]"


def _media_type(kind: str | None, value: Any) -> str | None:
    named = value.get("format") if isinstance(value, dict) and kind in _MEDIA else None
    if not isinstance(named, str) or not _PLAIN.fullmatch(named):
        return None
    known = _TYPES.get(named)
    return known if known is not None or kind == "document" else f"{kind}/{named}"


def _text(text: str) -> dict[str, Any]:
    return {"text": text}


def _call(native_id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": native_id, "name": name, "input": {} if arguments is ... else arguments}}


def _results(result: Result, content: str) -> list[dict[str, Any]]:
    held: dict[str, Any] = {"toolUseId": result.native_id, "content": [_text(content)] if content else []}
    if result.success is not None:
        held["status"] = "success" if result.success else "error"
    return [{"toolResult": held}]


def _compact(block: Any) -> Any:
    """``block`` with the bytes of large media as digests; a call's input is text for a tool."""
    if not isinstance(block, dict):
        return block
    result = block.get("toolResult")
    if isinstance(result, dict) and isinstance(result.get("content"), list):
        return {**block, "toolResult": {**result, "content": [_compact(each) for each in result["content"]]}}
    media = {kind: _digested(kind, block[kind]) for kind in block.keys() & _MEDIA}
    return {name: media.get(name, value) for name, value in block.items()}


def _digested(kind: str, medium: Any) -> Any:
    source = medium.get("source") if isinstance(medium, dict) else None
    source = source if isinstance(source, dict) else {}
    sent = source.get("bytes")
    # Base64 is longer than what it stands for; a character has at most four bytes.
    if not isinstance(sent, str) or len(sent) * 4 <= MAX_BINARY_BYTES:
        return medium
    try:
        data = base64.b64decode(sent, validate=True)
    except ValueError:
        data = sent.encode()
    if len(data) <= MAX_BINARY_BYTES:
        return medium
    digest: dict[str, Any] = {"sha256": sha256_hex(data), "bytes": len(data)}
    media_type = _media_type(kind, medium)
    if media_type is not None:
        digest["media_type"] = media_type
    return {**medium, "source": {**source, "bytes": digest}}


DIALECT: Final = Dialect("bedrock-converse", _see, _text, _call, _results, _compact, system_is_text=False)
# The patterns of ToolName and ToolUseId in the API's model; input is any document.
DEMANDS: Final = Demands(
    tool_name=r"[a-zA-Z0-9_-]{1,64}", call_id=r"[a-zA-Z0-9_.:-]{1,64}", arguments_are_objects=False
)
