"""Chunks of one LangChain message, put together again.

Text and arguments are joined, blocks and calls by their ``index``, and what was used is added up, as the ``+`` of
``langchain_core.messages.AIMessageChunk`` does. Names and ids are said once, whatever repeats them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from agent.formats.langchain_message import Serialised
from agent.formats.tool_calls import ArgumentReader

_SAID_ONCE: Final = frozenset({"id", "type", "name", "index", "role", "status", "object", "phase"})
_ONLY_OF_CHUNKS: Final = frozenset({"tool_call_chunks", "chunk_position"})


def merged(chunks: Sequence[Serialised], arguments: ArgumentReader) -> Serialised:
    """The one message that ``chunks`` are, in their order; at least one of them."""
    fields: dict[str, Any] = {}
    for chunk in chunks:
        for name, value in chunk.fields.items():
            fields[name] = _joined_field(name, fields[name], value) if name in fields else value
    pieces = fields.get("tool_call_chunks")
    if isinstance(pieces, list) and pieces:
        fields |= _calls_of(pieces, arguments)
    whole = {name: value for name, value in fields.items() if name not in _ONLY_OF_CHUNKS}
    first = chunks[0]
    return first._replace(is_chunk=False, fields=whole, around=_around_whole(first))


def _around_whole(chunk: Serialised) -> Mapping[str, Any]:
    if "kwargs" in chunk.around:
        *path, name = chunk.around["id"]
        return {**chunk.around, "id": [*path, name.removesuffix("Chunk")]}
    return {**chunk.around, "type": chunk.kind}


def _joined_field(name: str, before: Any, after: Any) -> Any:
    if name == "content":
        return _joined_content(before, after)
    if name == "usage_metadata":
        return _sum(before, after)
    if name == "response_metadata" and isinstance(before, dict) and isinstance(after, dict):
        return before | {key: value for key, value in after.items() if value is not None}
    if name in {"additional_kwargs", "tool_call_chunks", "tool_calls", "invalid_tool_calls"}:
        return _joined(name, before, after)
    return before if after is None or (name in _SAID_ONCE and before) else after


def _joined_content(before: Any, after: Any) -> Any:
    if isinstance(before, list) and isinstance(after, str):
        after = _text_blocks(after)
    elif isinstance(before, str) and isinstance(after, list):
        before = _text_blocks(before)
    return _joined("content", before, after)


def _text_blocks(text: str) -> list[Any]:
    return [{"type": "text", "text": text}] if text else []


def _joined(name: str, before: Any, after: Any) -> Any:
    """``after`` added to ``before``; what cannot be added replaces it."""
    if after is None or before is None:
        return before if after is None else after
    if isinstance(before, dict) and isinstance(after, dict):
        return before | {key: _joined(key, before.get(key), value) for key, value in after.items()}
    if isinstance(before, list) and isinstance(after, list):
        return _joined_lists(before, after)
    if isinstance(before, str) and isinstance(after, str):
        return (before or after) if name in _SAID_ONCE else before + after
    return after


def _joined_lists(before: list[Any], after: Iterable[Any]) -> list[Any]:
    joined = list(before)
    for item in after:
        place = _place_of(item, joined)
        if place is None:
            joined.append(item)
        else:
            joined[place] = _joined("", joined[place], item)
    return joined


def _place_of(item: Any, among: Sequence[Any]) -> int | None:
    """Where the piece stands that ``item`` continues: it has its index, and not another id."""
    index = item.get("index") if isinstance(item, dict) else None
    if index is None:
        return None
    for place in range(len(among) - 1, -1, -1):
        other = among[place]
        if isinstance(other, dict) and other.get("index") == index:
            ids = {each for each in (other.get("id"), item.get("id")) if isinstance(each, str) and each}
            return place if len(ids) < 2 else None
    return None


def _sum(before: Any, after: Any) -> Any:
    if isinstance(before, dict) and isinstance(after, dict):
        return before | {key: _sum(before.get(key), value) for key, value in after.items()}
    if isinstance(before, bool) or isinstance(after, bool):
        return after
    if isinstance(before, int | float) and isinstance(after, int | float):
        return before + after
    return before if after is None else after


def _calls_of(pieces: Sequence[Any], arguments: ArgumentReader) -> dict[str, Any]:
    """The calls that the joined pieces are: those whose arguments are no JSON object stay text."""
    valid, invalid = [], []
    for piece in pieces:
        if not isinstance(piece, dict):
            continue
        text = piece.get("args")
        args = arguments.read(text) if isinstance(text, str) and text else {}
        named = {"name": piece.get("name"), "id": piece.get("id")}
        if isinstance(args, dict):
            valid.append({**named, "args": args, "type": "tool_call"})
        else:
            invalid.append({**named, "args": text, "error": None, "type": "invalid_tool_call"})
    return {"tool_calls": valid, "invalid_tool_calls": invalid}
