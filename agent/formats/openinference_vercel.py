"""Spans of the Vercel AI SDK (``ai.generateText.doGenerate`` and its like) as OpenInference tells calls of a model.

Their prompts are JSON in a string: ``ai.prompt.messages`` of the call itself, ``ai.prompt`` of the operation around it;
answers stand in ``ai.response.*`` (AI SDK, telemetry, "Collected Data"). Messages are told as flat attributes, as
``openinference_message`` reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from agent.core.canonical import encode
from agent.formats.conversation.times import stated
from agent.formats.conversation.usage import token_usage
from agent.formats.spans import structured

OPERATION: Final = "ai.operationId"
PROMPT_MESSAGES: Final = "ai.prompt.messages"
PROMPT: Final = "ai.prompt"
_USAGE: Final = (("promptTokens", "completionTokens"), ("inputTokens", "outputTokens"))
_SESSIONS: Final = ("ai.telemetry.metadata.sessionId", "ai.telemetry.metadata.session.id")


def session_of(attributes: Mapping[str, Any]) -> Any:
    """The session that the telemetry's metadata names."""
    return next((attributes[name] for name in _SESSIONS if name in attributes), None)


def answer_id(attributes: Mapping[str, Any]) -> Any:
    """What the provider says of its answer, which the operation around a call repeats; None where it says nothing."""
    found = structured(attributes.get("ai.response.providerMetadata"))
    return found if isinstance(found, dict) and found else None


def inputs(attributes: Mapping[str, Any]) -> Any:
    """The messages of the prompt; what is no list of them where there is none to be read."""
    if PROMPT_MESSAGES in attributes:
        return _flattened(structured(attributes[PROMPT_MESSAGES]))
    prompt = structured(attributes.get(PROMPT))
    if not isinstance(prompt, dict):
        return prompt
    said = prompt.get("messages", prompt.get("prompt"))
    messages = _flattened([{"role": "user", "content": said}] if isinstance(said, str) else said)
    system = prompt.get("system")
    if system and isinstance(messages, list):
        messages = [*_flat_messages({"role": "system", "content": system}), *messages]
    return messages


def _flattened(messages: Any) -> Any:
    if not isinstance(messages, list):
        return messages
    return [flat for message in messages for flat in _flat_messages(message)]


def _flat_messages(message: Any) -> Iterator[Any]:
    if not isinstance(message, dict):
        yield message
        return
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    results = [part for part in parts if isinstance(part, dict) and part.get("type") == "tool-result"]
    for part in results:
        yield _result(part)
    rest = [part for part in parts if part not in results]
    if rest or not results:
        named = {"role": message.get("role")} if "role" in message else {}
        if isinstance(content, str):
            named["content"] = content
        elif content is not None and not isinstance(content, list):
            named["content"] = encode(content).decode()
        others = {name: value for name, value in message.items() if name not in ("role", "content")}
        yield named | _parts(rest) | dict(flat_members("", others))


def _result(part: Mapping[str, Any]) -> dict[str, Any]:
    output = part.get("output", part.get("result"))
    is_error = part.get("isError") is True
    if isinstance(output, dict) and isinstance(output.get("type"), str) and "value" in output:
        is_error = is_error or output["type"].startswith("error")
        output = output["value"]
    text = output if isinstance(output, str) else "" if output is None else encode(output).decode()
    flat: dict[str, Any] = {"role": "tool", "content": text} | ({"isError": True} if is_error else {})
    names = {"toolCallId": "tool_call_id", "toolName": "name"}
    return flat | {name: part[key] for key, name in names.items() if key in part}


def _parts(parts: Iterable[Any]) -> dict[str, Any]:
    texts = [part for part in parts if not (isinstance(part, dict) and part.get("type") == "tool-call")]
    calls = [part for part in parts if isinstance(part, dict) and part.get("type") == "tool-call"]
    flat: dict[str, Any] = {}
    if len(texts) == 1 and isinstance(texts[0], dict) and texts[0].keys() == {"type", "text"}:
        lone = texts[0]
        if lone["type"] == "text" and isinstance(lone["text"], str):
            flat, texts = {"content": lone["text"]}, []
    for place, part in enumerate(texts):
        shown = part if isinstance(part, dict) else {"type": "text", "text": part}
        flat |= dict(flat_members(f"contents.{place}.message_content", shown))
    return flat | _calls(calls)


def _calls(calls: Iterable[Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for place, call in enumerate(calls):
        if not isinstance(call, dict):
            continue
        at = f"tool_calls.{place}.tool_call"
        given = call.get("input", call.get("args", call.get("arguments")))
        arguments = given if isinstance(given, str) or given is None else encode(given).decode()
        flat |= {f"{at}.id": call.get("toolCallId"), f"{at}.function.name": call.get("toolName")}
        if arguments is not None:
            flat[f"{at}.function.arguments"] = arguments
    return flat


def flat_members(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The leaves of ``value``, each by its path after ``prefix``, as OpenInference flattens lists and objects."""
    level = [(prefix, value)]
    while level:
        at, item = level.pop()
        if isinstance(item, dict | list):
            members = item.items() if isinstance(item, dict) else enumerate(item)
            level += [(f"{at}.{name}" if at else str(name), member) for name, member in reversed(list(members))]
        else:
            yield at, item


def outputs(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The answer, if there is one."""
    text = attributes.get("ai.response.text", attributes.get("ai.response.object"))
    calls = structured(attributes.get("ai.response.toolCalls"))
    flat: dict[str, Any] = {"role": "assistant"}
    if isinstance(text, str) and text:
        flat["content"] = text
    reasoning = attributes.get("ai.response.reasoning")
    if isinstance(reasoning, str) and reasoning:
        flat |= {"contents.0.message_content.type": "reasoning", "contents.0.message_content.text": reasoning}
    if isinstance(calls, list):
        flat |= _calls(calls)
    return [flat] if len(flat) > 1 or text is not None else []


def told(attributes: Mapping[str, Any]) -> tuple[Any, dict[str, int] | None, str | None]:
    """The model, the usage and the time of the answer."""
    model = attributes.get("ai.response.model", attributes.get("ai.model.id"))
    counts = {name.removeprefix("ai.usage."): value for name, value in attributes.items()}
    found = (token_usage(counts, sent, answered, "totalTokens") for sent, answered in _USAGE)
    usage = next((each for each in found if each is not None), None)
    return model, usage, stated(attributes.get("ai.response.timestamp"))
