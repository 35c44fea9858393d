"""Blocks of Claude messages, as its exports and transcripts hold them, cut into the turns that they are.

The blocks are those of the Messages API (text, thinking, tool_use, tool_result, ...). A result is a turn of its own: in
a message of the user the results come first and what is left follows; in a message of the assistant, which holds the
results of tools that ran on the server, the turns are in the order of the blocks. What is no block is kept and says
nothing: these are records of what was, and nobody can be asked to send them again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from agent.formats.content_parts import content_text, without_binaries
from agent.formats.conversation.message import Call, Result

# What a model does not say: thinking, and notes of the program.
_UNSPOKEN: Final = frozenset({"thinking", "redacted_thinking", "token_budget", "flag", "fallback"})


class Segment(NamedTuple):
    """One turn of a message: ``places`` are those of its blocks in the message.

    ``parts`` holds for each of them null where the turn's fields hold it exactly, else the block.
    """

    role: str
    content: str
    calls: tuple[Call, ...]
    results: tuple[Result, ...]
    places: tuple[int, ...]
    parts: tuple[Any, ...]


def segments(blocks: Sequence[Any], role: str) -> list[Segment]:
    """The turns of a message of ``role`` with ``blocks``: at least one."""
    places = range(len(blocks))
    results = [place for place in places if _is_result(blocks[place])]
    if role != "assistant":
        rest = [place for place in places if place not in set(results)]
        found = [_result(blocks[place], place) for place in results]
        return [*found, _spoken(blocks, rest, role)] if rest or not results else found
    found, waiting = [], []
    for place in places:
        if not _is_result(blocks[place]):
            waiting.append(place)
            continue
        if waiting:
            found.append(_spoken(blocks, waiting, role))
            waiting = []
        found.append(_result(blocks[place], place))
    if waiting or not found:
        found.append(_spoken(blocks, waiting, role))
    return found


def kept_parts(segment: Segment) -> dict[str, Any]:
    """``parts`` for ``metadata.native``, and ``places`` where they are not the first of the message."""
    kept: dict[str, Any] = {}
    if any(part is not None for part in segment.parts):
        kept["parts"] = list(segment.parts)
    if segment.places != tuple(range(len(segment.places))):
        kept["places"] = list(segment.places)
    return kept


def _type(block: Any) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else ""


def _is_result(block: Any) -> bool:
    # Messages API: tool_result, and web_search_tool_result and its like for tools of the server.
    return _type(block).endswith("tool_result")


def _spoken(blocks: Sequence[Any], places: Sequence[int], role: str) -> Segment:
    texts: list[str] = []
    calls: list[Call] = []
    parts: list[Any] = []
    for place in places:
        block = blocks[place]
        text = _text(block)
        if text is not None:
            texts.append(text)
        call = _call(block) if role == "assistant" else None
        if call is not None:
            calls.append(call)
        parts.append(None if _is_exact(block, role) else _compact(block))
    return Segment(role, "\n".join(texts), tuple(calls), (), tuple(places), tuple(parts))


def _text(block: Any) -> str | None:
    if isinstance(block, str):
        return block
    kind = _type(block)
    if not kind or kind in _UNSPOKEN or kind.endswith("tool_use"):
        return None
    text = content_text([block], "$", [])
    return text if kind != "text" or isinstance(block.get("text"), str) else None


def _call(block: Any) -> Call | None:
    if not _type(block).endswith("tool_use"):
        return None
    name, native_id = _string(block, "name"), _string(block, "id")
    return Call(name or "", native_id or name, block.get("input", ...))


def _is_exact(block: Any, role: str) -> bool:
    if not isinstance(block, dict):
        return False
    if block.get("type") == "text":
        return block.keys() == {"type", "text"} and isinstance(block["text"], str)
    is_call = role == "assistant" and block.get("type") == "tool_use"
    return (
        is_call and block.keys() == {"type", "id", "name", "input"} and all(_string(block, n) for n in ("id", "name"))
    )


def _result(block: Mapping[str, Any], place: int) -> Segment:
    shown = content_text(block.get("content"), "$", [])
    name, answered = _string(block, "name"), _string(block, "tool_use_id")
    is_error = block.get("is_error")
    success = not is_error if isinstance(is_error, bool) else None
    known = {"type", "tool_use_id", "content"} | ({"is_error"} if success is not None else set())
    is_exact = block.get("type") == "tool_result" and block.keys() == known and block["content"] == shown
    part = None if is_exact and answered else _compact(block)
    return Segment("tool", shown, (), (Result(answered or name, name, success),), (place,), (part,))


def _compact(block: Any) -> Any:
    if _type(block).endswith("tool_result"):
        content = without_binaries("content", block.get("content"))
        rest = {name: without_binaries(name, value) for name, value in block.items() if name != "content"}
        return {name: content if name == "content" else rest[name] for name in block}
    return without_binaries("content", [block])[0]


def _string(block: Mapping[str, Any], name: str) -> str | None:
    value = block.get(name)
    return value if isinstance(value, str) and value else None
