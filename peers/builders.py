"""The windows of other conversation memories, each by its own documented call: places of messages, per limit.

Runs in .venv-peers alone. A conversation is ``{"name", "messages"}``, a message ``{"role", "content", "calls": [{"id",
"name", "arguments"}], "answers": [ids]}``. A builder gives the places that it keeps, in its order. Tokens are
characters / 4 for all of them, as far as they ask; who limits messages and not tokens is asked with 1, 2, 3 ...
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from agents import SQLiteSession
from autogen_core import FunctionCall
from autogen_core.model_context import BufferedChatCompletionContext, TokenLimitedChatCompletionContext
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    SystemMessage,
    UserMessage,
)
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, trim_messages
from langchain_core.messages import SystemMessage as LangChainSystem
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer

Message = dict[str, Any]
Builder = Callable[[Sequence[Message], int], list[int]]


def tokens(message: Message) -> int:
    """What a message takes: its text, and the names and arguments of its calls."""
    called = sum(len(call["name"]) + len(call["arguments"]) for call in message["calls"])
    return 1 + (len(message["content"]) + called) // 4


def langchain_default(messages: Sequence[Message], limit: int) -> list[int]:
    """``trim_messages`` as it is: the last messages that fit."""
    return _langchain(messages, limit)


def langchain_recommended(messages: Sequence[Message], limit: int) -> list[int]:
    """``trim_messages`` as its guide sets it for chat models."""
    return _langchain(messages, limit, start_on="human", end_on=("human", "tool"), include_system=True)


def _langchain(messages: Sequence[Message], limit: int, **settings: Any) -> list[int]:
    found = [_of_langchain(message, place) for place, message in enumerate(messages)]
    kept = trim_messages(
        found,
        max_tokens=limit,
        token_counter=lambda those: sum(tokens(messages[int(each.id)]) for each in those),
        strategy="last",
        **settings,
    )
    return [int(each.id) for each in kept]


def _of_langchain(message: Message, place: int) -> Any:
    given: dict[str, Any] = {"content": message["content"], "id": str(place)}
    if message["role"] == "tool":
        return ToolMessage(tool_call_id=(message["answers"] or ["none"])[0], **given)
    if message["role"] == "assistant":
        calls = [{"id": call["id"], "name": call["name"], "args": {}} for call in message["calls"]]
        return AIMessage(tool_calls=calls, **given)
    return (LangChainSystem if message["role"] == "system" else HumanMessage)(**given)


def llama_index_buffer(messages: Sequence[Message], limit: int) -> list[int]:
    """``ChatMemoryBuffer`` with a token limit."""
    history = [
        ChatMessage(
            role=message["role"],
            content=message["content"],
            additional_kwargs={"place": place, "tool_calls": message["calls"]}
            if message["calls"]
            else {"place": place},
        )
        for place, message in enumerate(messages)
    ]
    # Its own rule: at least one token a message, counted over the text of all.
    buffer = ChatMemoryBuffer.from_defaults(
        chat_history=history, token_limit=max(1, limit), tokenizer_fn=lambda text: [0] * (1 + len(text) // 4)
    )
    return [message.additional_kwargs["place"] for message in buffer.get()]


def openai_agents_session(messages: Sequence[Message], limit: int) -> list[int]:
    """A session's newest items, as ``SessionSettings(limit=...)`` asks for them: a count, and no tokens."""

    async def newest() -> list[Any]:
        session = SQLiteSession("one")
        await session.add_items([item for place, message in enumerate(messages) for item in _items(message, place)])
        found = await session.get_items(limit=limit)
        session.close()
        return found

    places: list[int] = []
    for item in asyncio.run(newest()):
        place = int(item["place"])
        if place not in places:
            places.append(place)
    return places


def _items(message: Message, place: int) -> list[Any]:
    if message["role"] == "tool":
        answered = (message["answers"] or ["none"])[0]
        return [{"type": "function_call_output", "call_id": answered, "output": message["content"], "place": place}]
    said = [{"role": message["role"], "content": message["content"], "place": place}] if message["content"] else []
    calls = [
        {
            "type": "function_call",
            "call_id": call["id"],
            "name": call["name"],
            "arguments": call["arguments"],
            "place": place,
        }
        for call in message["calls"]
    ]
    return [*said, *calls] or [{"role": message["role"], "content": "", "place": place}]


def autogen_buffered(messages: Sequence[Message], limit: int) -> list[int]:
    """``BufferedChatCompletionContext``: a count, and no tokens."""
    found, places = _of_autogen(messages)
    return _kept_by(BufferedChatCompletionContext(buffer_size=limit, initial_messages=found), places)


def autogen_token_limited(messages: Sequence[Message], limit: int) -> list[int]:
    """``TokenLimitedChatCompletionContext``, with a client that counts as all others do here."""
    found, places = _of_autogen(messages)

    class Client:
        def count_tokens(self, those: Sequence[Any], *, tools: Sequence[Any] = ()) -> int:
            return sum(tokens(messages[place]) for each in those for place in places[id(each)])

    client: Any = Client()
    context = TokenLimitedChatCompletionContext(client, token_limit=max(1, limit), initial_messages=found)
    return _kept_by(context, places)


def _kept_by(context: Any, places: dict[int, list[int]]) -> list[int]:
    return [place for each in asyncio.run(context.get_messages()) for place in places[id(each)]]


def _of_autogen(messages: Sequence[Message]) -> tuple[list[Any], dict[int, list[int]]]:
    """Its messages, and the places of each: results that follow one another are one message there."""
    found: list[Any] = []
    places: dict[int, list[int]] = {}
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            result = FunctionExecutionResult(
                content=message["content"], call_id=(message["answers"] or ["none"])[0], name="tool", is_error=False
            )
            if found and isinstance(found[-1], FunctionExecutionResultMessage):
                found[-1].content.append(result)
                places[id(found[-1])].append(place)
                continue
            made: Any = FunctionExecutionResultMessage(content=[result])
        elif message["role"] == "assistant":
            calls = [FunctionCall(id=each["id"], name=each["name"], arguments="{}") for each in message["calls"]]
            made = AssistantMessage(content=calls or message["content"], source="assistant")
        elif message["role"] == "system":
            made = SystemMessage(content=message["content"])
        else:
            made = UserMessage(content=message["content"], source="user")
        found.append(made)
        places[id(made)] = [place]
    return found, places


BY_TOKENS: dict[str, Builder] = {
    "LangChain `trim_messages`, default": langchain_default,
    "LangChain `trim_messages`, as its guide sets it": langchain_recommended,
    "LlamaIndex `ChatMemoryBuffer`": llama_index_buffer,
    "AutoGen `TokenLimitedChatCompletionContext`": autogen_token_limited,
}
BY_COUNT: dict[str, Builder] = {
    "OpenAI Agents session, `limit`": openai_agents_session,
    "AutoGen `BufferedChatCompletionContext`": autogen_buffered,
}
