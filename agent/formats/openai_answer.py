"""What a Chat Completions call came back with: a ``chat.completion``, or the chunks that it was streamed as.

The chunks of a choice are one message: texts are joined, and the pieces of a call by its ``index`` (OpenAI API
reference, Chat Completions, streaming).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from agent.formats.conversation.recording import Recorded
from agent.formats.conversation.times import from_epoch
from agent.formats.conversation.usage import token_usage


class Answer(NamedTuple):
    """One choice: its message as the provider wrote it, and what the answer says of it."""

    message: Mapping[str, Any]
    model: str | None
    usage: Mapping[str, int] | None
    timestamp: str | None


def answers_of(call: Recorded) -> list[Answer]:
    """The choices that ``call`` came back with, in their order; none where it failed or is no Chat Completions call."""
    body = call.response if call.events is None else _joined(call.events)
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(choices, list):
        return []
    model = body.get("model")
    model = model if isinstance(model, str) else None
    usage = token_usage(body.get("usage"), "prompt_tokens", "completion_tokens", "total_tokens")
    messages = [choice.get("message") for choice in choices if isinstance(choice, dict)]
    found = [message for message in messages if isinstance(message, dict)]
    # The usage is the call's: counted once, also where it was asked for several answers.
    return [
        Answer(message, model, usage if place == 0 else None, from_epoch(body.get("created")))
        for place, message in enumerate(found)
    ]


def _joined(chunks: Iterable[Any]) -> dict[str, Any]:
    """The ``chat.completion`` that ``chunks`` make."""
    whole: dict[str, Any] = {}
    choices: dict[Any, dict[str, Any]] = {}
    for chunk in chunks:
        if not isinstance(chunk, dict):
            continue
        whole |= {name: chunk[name] for name in ("model", "created", "usage") if chunk.get(name) is not None}
        listed = chunk.get("choices")
        for choice in listed if isinstance(listed, list) else ():
            delta = choice.get("delta") if isinstance(choice, dict) else None
            if isinstance(delta, dict):
                _add(choices.setdefault(choice.get("index", 0), {"role": "assistant", "content": None}), delta)
    if choices:
        whole["choices"] = [{"message": message} for message in choices.values()]
    return whole


def _add(message: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for name, value in delta.items():
        if name == "tool_calls" and isinstance(value, list):
            _add_calls(message.setdefault("tool_calls", []), value)
        elif isinstance(value, str) and isinstance(message.get(name), str) and name != "role":
            message[name] += value
        elif value is not None or name not in message:
            message[name] = value


def _add_calls(calls: list[dict[str, Any]], pieces: Iterable[Any]) -> None:
    for piece in pieces:
        if not isinstance(piece, dict):
            continue
        index = piece.get("index", len(calls))
        call = next((call for call in calls if call["index"] == index), None)
        if call is None:
            call = {"index": index, "function": {"name": "", "arguments": ""}}
            calls.append(call)
        call |= {name: piece[name] for name in ("id", "type") if isinstance(piece.get(name), str)}
        function = piece.get("function")
        if isinstance(function, dict):
            for name in ("name", "arguments"):
                if isinstance(function.get(name), str):
                    call["function"][name] += function[name]
