"""Lists of chat messages: Chat Completions, and LangChain's as ``messages_from_dict`` takes them."""

from __future__ import annotations

import re
from typing import Any

from tests.formats.providers.spoken import Spoken, digests, exchanges, system_first, users_first

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_MEMBERS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "tool": {"role", "content", "tool_call_id"},
}
_LONGEST_ID = 40


def openai_chat(document: Any) -> list[str]:
    """OpenAI API reference, Chat Completions, ``messages``; guide "Function calling".

    Refused with 400: "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'", "An
    assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'", an id of
    more than 40 characters, a function's name outside ``^[a-zA-Z0-9_-]{1,64}$``, an assistant's message with neither
    content nor calls. Messages of the system may stand anywhere, and two of one role beside each other.
    """
    messages = document["messages"]
    found = [] if messages else ["no messages"]
    spoken = []
    for place, message in enumerate(messages):
        found += (f"{place}: {each}" for each in _chat_message(message))
        calls = [call.get("id") for call in message.get("tool_calls") or ()]
        role = "system" if message["role"] == "developer" else message["role"]
        spoken.append(Spoken(role, calls, [message.get("tool_call_id")] if role == "tool" else []))
    return [*found, *exchanges(spoken), *digests(messages)]


def _chat_message(message: dict[str, Any]) -> list[str]:
    found = []
    role, content = message.get("role"), message.get("content")
    if role not in {*_MEMBERS, "assistant"}:
        found.append("an unknown role")
    if "timestamp" in message:
        found.append("a member that no message has")
    if not isinstance(content, str | list) and not (role == "assistant" and message.get("tool_calls")):
        found.append("no content")
    if content == []:
        found.append("an empty list of parts")
    if role in _MEMBERS and role != "assistant" and "tool_calls" in message:
        found.append("calls of somebody else")
    if "tool_calls" in message and message["tool_calls"] == []:
        found.append("an empty list of calls")
    for call in message.get("tool_calls") or ():
        function = call.get("function", call.get("custom"))
        if call.get("type") not in ("function", "custom"):
            found.append("a call of no type")
        if not isinstance(call.get("id"), str) or not 0 < len(call["id"]) <= _LONGEST_ID:
            found.append("an id that is too long or none")
        if not isinstance(function, dict) or not _NAME.fullmatch(str(function.get("name"))):
            found.append("a name that no function has")
        elif not isinstance(function.get("arguments", function.get("input")), str):
            found.append("arguments that are no text")
    return found


def langchain(document: Any) -> list[str]:
    """LangChain reference, ``messages_from_dict`` and ``trim_messages``.

    Messages are ``{type, data}``. "Most chat models expect that chat history starts with either (1) a HumanMessage or
    (2) a SystemMessage followed by a HumanMessage. [...] a ToolMessage can only appear after an AIMessage that involved
    a tool call." What the model behind it refuses is refused here: half exchanges, and the system further on
    (``ChatAnthropic``: "Received multiple non-consecutive system messages").
    """
    messages = document["messages"]
    found = [] if messages else ["no messages"]
    spoken = []
    roles = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
    for place, message in enumerate(messages):
        if message.keys() != {"type", "data"} or not isinstance(message["data"], dict):
            found.append(f"{place}: no message of messages_from_dict")
            continue
        data, kind = message["data"], str(message["type"]).removesuffix("MessageChunk").lower()
        if kind not in roles:
            found.append(f"{place}: an unknown type")
            continue
        calls = [call.get("id") for name in ("tool_calls", "invalid_tool_calls") for call in data.get(name) or ()]
        if any(not isinstance(each, str) for each in calls):
            found.append(f"{place}: a call without an id")
        if not isinstance(data.get("content"), str | list) or (not data["content"] and not calls and kind != "tool"):
            found.append(f"{place}: no content")
        spoken.append(Spoken(roles[kind], calls, [data.get("tool_call_id")] if kind == "tool" else []))
    return [*found, *exchanges(spoken), *system_first(spoken), *users_first(spoken), *digests(messages)]
