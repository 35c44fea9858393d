"""Lists that a library or a trace holds, of whatever provider, and data sets for training."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.formats.providers.spoken import Spoken, digests, exchanges, unique

_IN_REQUEST = {"system-prompt", "user-prompt", "tool-return", "retry-prompt"}
_FLAT = re.compile(r"(llm\.(?:input|output)_messages)\.([0-9]+)\.message\.(.+)")
_FLAT_CALL = re.compile(r"tool_calls\.([0-9]+)\.tool_call\.(.+)")


def pydantic_ai(document: Any) -> list[str]:
    """Pydantic AI API reference, ``messages``; "Messages and chat history", "Processing message history".

    "When slicing the message history, you need to make sure that tool calls and returns are paired, otherwise the LLM
    may return an error": each ``tool-call`` has its ``tool-return`` (or ``retry-prompt``) in the request behind the
    response, each return its call there. Requests in a row are sent as one, and so are responses. Instructions are
    parts of requests, wherever they stand; what a user says stands behind the returns.
    """
    messages = document["messages"]
    found = [*digests(messages)] if messages else ["no messages"]
    spoken: list[Spoken] = []
    for place, message in enumerate(messages):
        kind, parts = message.get("kind"), message.get("parts")
        if kind not in ("request", "response") or not isinstance(parts, list) or not parts:
            found.append(f"{place}: no message")
            continue
        kinds = {part.get("part_kind") for part in parts}
        if (kind == "request" and kinds - _IN_REQUEST) or (kind == "response" and kinds & _IN_REQUEST):
            found.append(f"{place}: a part of the other kind of message")
        spoken += _of_response(parts, spoken) if kind == "response" else _of_request(parts)
    return [*found, *exchanges(spoken), *unique(spoken)]


def _of_response(parts: list[Any], before: list[Spoken]) -> Iterator[Spoken]:
    calls = [part.get("tool_call_id") for part in parts if part["part_kind"] == "tool-call"]
    if before and before[-1].role == "assistant" and before[-1].calls and calls:
        before[-1].calls += calls
    else:
        yield Spoken("assistant", calls)


def _of_request(parts: list[Any]) -> Iterator[Spoken]:
    def is_result(part: Any) -> bool:
        return part["part_kind"] == "tool-return" or (part["part_kind"] == "retry-prompt" and bool(part["tool_name"]))

    # The models send the parts in their order, and what the system says beside them.
    for part in parts:
        if is_result(part):
            yield Spoken("tool", results=[part.get("tool_call_id")])
        elif part["part_kind"] != "system-prompt":
            yield Spoken("user")


def otel_genai(document: Any) -> list[str]:
    """OpenTelemetry, "GenAI semantic conventions", ``gen_ai.input.messages`` and their JSON schema.

    "Messages MUST be provided in the order they were sent to the model": a record of what some provider took, so calls
    and responses stand as all of them want it. Roles are system, user, assistant and tool; ``tool_call`` parts are an
    assistant's, ``tool_call_response`` parts a tool's, each naming its call.
    """
    messages = [*document["gen_ai.input.messages"], *document["gen_ai.output.messages"]]
    found = [*digests(messages)] if messages or document.get("gen_ai.system_instructions") else ["no messages"]
    spoken = []
    for place, message in enumerate(messages):
        role, parts = message.get("role"), message.get("parts")
        if role not in ("system", "user", "assistant", "tool") or not isinstance(parts, list) or not parts:
            found.append(f"{place}: no message")
            continue
        calls = [part.get("id") for part in parts if part.get("type") == "tool_call"]
        results = [part.get("id") for part in parts if part.get("type") == "tool_call_response"]
        if calls and role != "assistant":
            found.append(f"{place}: a call of somebody else")
        spoken.append(Spoken("tool" if results else role, calls, results))
    return [*found, *exchanges(spoken), *unique(spoken)]


def openinference(document: Any) -> list[str]:
    """OpenInference, "Semantic conventions", ``llm.input_messages`` and ``llm.output_messages``.

    Flattened: ``<list>.<index>.message.<member>``, indexes from 0 without a gap. ``message.role``;
    ``message.tool_calls.<n>.tool_call.id`` and ``.function.name``; ``message.tool_call_id`` names the call of a
    ``tool`` message. A record of what some provider took.
    """
    by_list: dict[str, dict[int, dict[str, Any]]] = {}
    for key, value in document.items():
        match = _FLAT.fullmatch(key)
        if match is not None:
            by_list.setdefault(match[1], {}).setdefault(int(match[2]), {})[match[3]] = value
    found = [*digests(document)] if by_list else ["no messages"]
    spoken = []
    for name in ("llm.input_messages", "llm.output_messages"):
        listed = by_list.get(name, {})
        found += [f"{name} with a gap"] if sorted(listed) != list(range(len(listed))) else []
        for place in sorted(listed):
            message = listed[place]
            role = message.get("role")
            if role not in ("system", "developer", "user", "assistant", "tool"):
                found.append(f"{place}: no message")
            calls = [match for match in map(_FLAT_CALL.fullmatch, message) if match is not None]
            ids = {match[1]: None for match in calls} | {
                match[1]: message[match.string] for match in calls if match[2] == "id"
            }
            results = [message.get("tool_call_id")] if role == "tool" else []
            spoken.append(Spoken("system" if role == "developer" else str(role), list(ids.values()), results))
    return [*found, *exchanges(spoken), *unique(spoken)]


def sharegpt(document: Any) -> list[str]:
    """LLaMA-Factory, ``data/README.md``, "Sharegpt Format"; FastChat's conversation templates.

    "human and observation must appear in odd positions, while gpt and function must appear in even positions", the
    instructions first or beside. The results of parallel calls are observations in a row, which count as one place;
    what a human says before the model took up a result stands behind it.
    """
    found = [] if document["conversations"] else ["no messages"]
    before, first = None, True
    open_: list[Any] = []
    for place, message in enumerate(document["conversations"]):
        role, value = message.get("from"), message.get("value")
        if role not in ("human", "gpt", "system", "observation", "function_call") or not isinstance(value, str):
            found.append(f"{place}: no message")
        if role == "system":
            found += [f"{place}: the system within the conversation"] if place else []
            continue
        found += ["the first message is no human's"] if first and role != "human" else []
        first = False
        is_model, was_model = (each in ("gpt", "function_call") for each in (role, before))
        if before is not None and (is_model == was_model and (is_model or role == before == "human")):
            found.append(f"{place}: two messages of one speaker")
        if role == "observation":
            named = message.get("tool_call_id", message.get("name", open_[0] if open_ else None))
            if named in open_:
                open_.remove(named)
            else:
                found.append(f"{place}: an observation of no open call")
        else:
            found += [f"{place}: calls without observations"] if open_ else []
            open_ = list(_called(value)) if role == "function_call" else []
        before = role
    return found


def _called(value: Any) -> Iterator[Any]:
    calls = json.loads(value)
    for call in calls if isinstance(calls, list) else [calls]:
        yield call.get("id", call["name"])
