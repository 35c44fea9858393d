"""What recorded calls say, counted anew: in the four shapes of messages that providers have, by addresses alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

# Whose a call is says its address.
_ADDRESSES = {
    "/v1/messages": "anthropic", "generatecontent": "gemini", "/chat/completions": "openai-chat",
    "/v1/responses": "openai-responses", "/converse": "bedrock-converse", "/count-tokens": "bedrock-converse",
    "/invoke": "anthropic",
}  # fmt: skip
# Streams, tools that the provider runs in the middle of an answer, and what holds no messages as the others do.
_NOT_COUNTED = ('"data: ', "event: ", "server_tool_use", "/count-tokens", "/v1/responses")
_Turn = tuple[Any, ...]


def provider(call: Any) -> str | None:
    """The format of a call, None where its address is none of a model's."""
    address = call["request"]["uri"].lower()
    return next((form for part, form in _ADDRESSES.items() if part in address), None)


def is_counted(recording: Any) -> bool:
    """Whether ``turns_of`` knows all that is in it."""
    text = json.dumps(recording)
    return not any(part in text for part in _NOT_COUNTED)


def turns_of(recording: Any) -> int:
    """How many turns it comes to: what two calls of one provider begin with alike was said once."""
    beginnings = set()
    for call in recording["interactions"]:
        form = provider(call)
        if form is None:
            continue
        sent = call["request"]["body"]
        instructions = sent.get("system") or sent.get("systemInstruction")
        said: list[_Turn] = [("system", json.dumps(instructions))] if instructions else []
        for message in (*sent.get("messages", sent.get("contents", ())), *_answer(call["response"]["body"])):
            said += _turns(message)
        beginnings |= {(form, *said[:end]) for end in range(1, len(said) + 1)}
    return len(beginnings)


def _answer(body: Any) -> list[Any]:
    if "choices" in body:
        return [choice["message"] for choice in body["choices"]][:1]
    if "candidates" in body:
        return [candidate["content"] for candidate in body["candidates"] if candidate.get("content")][:1]
    if "output" in body:
        return [body["output"]["message"]]
    return [body] if body.get("type") == "message" else []


def _turns(message: Any) -> Iterator[_Turn]:
    """A turn for each result of a tool, and one for all the rest."""
    content = message.get("content", message.get("parts"))
    parts = [{"text": content}] if isinstance(content, str) else content or []
    texts, calls, results, rest = [], [], [], 0
    for part in parts:
        kind = part.get("type", "")
        call = part.get("toolUse") or part.get("functionCall") or (part if kind == "tool_use" else None)
        result = part.get("toolResult") or part.get("functionResponse") or (part if kind == "tool_result" else None)
        if result is not None:
            results.append(result.get("tool_use_id") or result.get("toolUseId") or result.get("name"))
            continue
        rest += 1
        if call is not None:
            calls.append((call["name"], json.dumps(call.get("input", call.get("args")), sort_keys=True)))
        elif not part.get("thought"):
            texts.append(part.get("text") or "")
    for call in message.get("tool_calls") or ():
        function = call.get("function") or call["custom"]
        calls.append((function["name"], function.get("arguments", function.get("input"))))
    yield from (("tool", each) for each in results)
    if rest or calls or not results:
        yield (message.get("role"), "\n".join(filter(None, texts)), *calls, message.get("tool_call_id"))
