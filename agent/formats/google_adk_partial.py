"""Fragments of streamed answers (``partial`` events) whose whole never came, as the events that they would have been.

The kit streams an answer in fragments and then says it once more as a whole; of a run that ended before that, nothing
but the fragments is left. Those of one invocation and author are one event, at the place of the first, with its id and
its time; all else is the latest word. Calls of which only pieces came were not made.

Source: google-adk, ``utils.streaming_utils``, ``events.Event``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from agent.formats.gemini_answer import joined_content
from agent.formats.gemini_parts import member

_TRANSCRIPTIONS: Final = ("inputTranscription", "outputTranscription")
_OF_THE_FIRST: Final = ("id", "timestamp")


class Merged(NamedTuple):
    """An event that ``size`` fragments make."""

    event: dict[str, Any]
    size: int


def merged_fragments(events: Sequence[Any]) -> dict[int, Merged | None]:
    """By the index of each fragment that no whole follows: what they make at the first, None at the others."""
    followed: set[tuple[Any, ...]] = set()
    alone: dict[tuple[Any, ...], list[int]] = {}
    for index in range(len(events) - 1, -1, -1):
        event = events[index]
        if not isinstance(event, dict):
            continue
        for key in _keys(event):
            if event.get("partial") is not True:
                followed.add(key)
            elif key not in followed:
                alone.setdefault(key, []).append(index)
                break
    found: dict[int, Merged | None] = {}
    for key, indices in alone.items():
        first, *others = reversed(indices)
        merged = _merged([events[index] for index in (first, *others)], key[-1])
        if merged is not None:
            found |= {first: Merged(merged, len(indices)), **dict.fromkeys(others)}
    return found


def _keys(event: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """What ``event`` says something of: invocation, author, and where it says it."""
    invocation, author = member(event, "invocationId"), event.get("author")
    if not (isinstance(invocation, str) and isinstance(author, str)):
        return []
    said = [name for name in _TRANSCRIPTIONS if _text(event, name)]
    content = event.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    if any(map(_is_said, parts if isinstance(parts, list) else ())):
        said.insert(0, "content")
    return [(invocation, author, name) for name in said]


def _is_said(part: Any) -> bool:
    return isinstance(part, dict) and member(part, "functionResponse") is None and not _is_piece(part)


def _is_piece(part: Any) -> bool:
    """Whether ``part`` is a piece of a call."""
    call = member(part, "functionCall") if isinstance(part, dict) else None
    return isinstance(call, dict) and any(member(call, name) is not None for name in ("partialArgs", "willContinue"))


def _text(event: Mapping[str, Any], name: str) -> str:
    transcription = member(event, name)
    text = transcription.get("text") if isinstance(transcription, dict) else None
    return text if isinstance(text, str) else ""


def _merged(fragments: Sequence[Mapping[str, Any]], where: str) -> dict[str, Any] | None:
    event: dict[str, Any] = {}
    for fragment in fragments:
        event |= {name: value for name, value in fragment.items() if value is not None and name != "partial"}
    event |= {name: fragments[0][name] for name in _OF_THE_FIRST if name in fragments[0]}
    if where == "content":
        contents = [_without_pieces(fragment["content"]) for fragment in fragments]
        return {**event, "content": joined_content(contents)}
    event.pop("content", None)
    for name, value in event.items():
        if isinstance(value, dict) and value is member({name: value}, where):
            return {**event, name: {**value, "text": "".join(_text(fragment, where) for fragment in fragments)}}
    return None


def _without_pieces(content: Mapping[str, Any]) -> dict[str, Any]:
    return {**content, "parts": [part for part in content["parts"] if not _is_piece(part)]}
