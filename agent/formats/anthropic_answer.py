"""What a call of the Messages API came back with: a message, or the events that it was streamed as.

The events of a stream make one message (Anthropic API reference, Streaming messages): each block begins with its
``content_block_start`` and grows by deltas; ``message_delta`` says how it ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from agent.formats.blocks.documents import Answer, usage_with_caches
from agent.formats.conversation.recording import Recorded
from agent.formats.tool_calls import ArgumentReader

_SENT: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def is_answer(document: Any) -> bool:
    """Whether ``document`` is a message as the API answers it."""
    return (
        isinstance(document, dict)
        and document.get("type") == "message"
        and document.get("role") == "assistant"
        and isinstance(document.get("content"), list)
        and "stop_reason" in document
    )


def is_stream(events: Any) -> bool:
    """Whether ``events`` are those that the API streams a message as."""
    if not isinstance(events, list | tuple):
        return False
    first = next((event for event in events if isinstance(event, dict) and event.get("type") != "ping"), {})
    return first.get("type") == "message_start" and isinstance(first.get("message"), dict)


def answer_of(call: Recorded) -> Answer | None:
    """What ``call`` came back with; None where it failed or is no call of this API."""
    body = call.response
    if call.events is not None:
        body = merged(call.events) if is_stream(call.events) else None
    if not isinstance(body, dict) or not is_answer(body):
        return None
    model = body.get("model")
    return Answer(
        {"role": body["role"], "content": body["content"]},
        {name: value for name, value in body.items() if name not in ("role", "content")},
        model if isinstance(model, str) else None,
        usage_with_caches(body.get("usage"), _SENT, "output_tokens"),
    )


def merged(events: Iterable[Any]) -> dict[str, Any]:
    """The message that ``events`` make."""
    message: dict[str, Any] = {}
    blocks: dict[Any, dict[str, Any]] = {}
    inputs: dict[Any, str] = {}
    for event in events:
        kind = event.get("type") if isinstance(event, dict) else None
        if kind == "message_start" and isinstance(event.get("message"), dict):
            message = dict(event["message"])
        elif kind == "message_delta":
            _end(message, event)
        elif kind == "content_block_start" and isinstance(event.get("content_block"), dict):
            blocks[_index(event)] = dict(event["content_block"])
        elif kind == "content_block_delta" and _index(event) in blocks and isinstance(event.get("delta"), dict):
            delta = event["delta"]
            if isinstance(delta.get("partial_json"), str):
                inputs[_index(event)] = inputs.get(_index(event), "") + delta["partial_json"]
            else:
                _grow(blocks[_index(event)], delta)
    for index, text in inputs.items():
        if text:
            blocks[index]["input"] = ArgumentReader().read(text)
    return {**message, "content": list(blocks.values())}


def _index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else -1


def _end(message: dict[str, Any], event: Mapping[str, Any]) -> None:
    delta, usage = event.get("delta"), event.get("usage")
    message |= delta if isinstance(delta, dict) else {}
    if isinstance(usage, dict):
        before = message.get("usage")
        message["usage"] = {**(before if isinstance(before, dict) else {}), **usage}
    message |= {name: value for name, value in event.items() if name not in ("type", "delta", "usage")}


def _grow(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for name, value in delta.items():
        if name == "type":
            continue
        if name == "citation":
            cited = block.get("citations")
            block["citations"] = [*(cited if isinstance(cited, list) else ()), value]
        elif isinstance(value, str) and isinstance(block.get(name), str):
            block[name] += value
        elif value is not None or name not in block:
            block[name] = value
