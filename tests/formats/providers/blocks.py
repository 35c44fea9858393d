"""Messages of blocks: Anthropic's Messages, Amazon Bedrock's Converse."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from tests.formats.providers.spoken import digests, is_blank

_ANTHROPIC_ID = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_ANTHROPIC_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
_BEDROCK_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}", re.ASCII)
_BEDROCK_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


class Block(NamedTuple):
    """What a block is: ``text``, ``call``, ``result`` or something else; of the first its text, else its id."""

    kind: str
    value: Any = None
    name: Any = None
    input: Any = None


class Pattern(NamedTuple):
    id: re.Pattern[str]
    name: re.Pattern[str]


def anthropic(document: Any) -> list[str]:
    """Claude API reference, Messages; "Handle tool calls", "Building with extended thinking", "Prefill".

    Refused with 400: "roles must alternate" (older models; newer ones join two in a row), "first message must use the
    user role", "`tool_use` ids were found without `tool_result` blocks immediately after", also where a text stands
    behind the ``tool_use``, "unexpected `tool_use_id` found in `tool_result` blocks", "`tool_use` ids must be unique",
    results behind a text, "text content blocks must be non-empty", "... must contain non-whitespace text", "final
    assistant content cannot end with trailing whitespace". A ``thinking`` block has its ``signature``.
    """
    found = list(_messages(document["messages"], _anthropic_block, Pattern(_ANTHROPIC_ID, _ANTHROPIC_NAME)))
    system = document.get("system", [{"type": "text", "text": "-"}])
    texts = [system] if isinstance(system, str) else [block.get("text") for block in system]
    found += ["blank instructions"] if any(map(is_blank, texts)) else []
    for message in document["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            kind = block.get("type")
            if kind == "thinking" and not isinstance(block.get("signature"), str):
                found.append("thinking without a signature")
            if kind == "tool_result" and isinstance(block.get("content"), list):
                found += (
                    "a blank text in a result"
                    for each in block["content"]
                    if each.get("type") == "text" and is_blank(each.get("text"))
                )
            if not isinstance(kind, str):
                found.append("a block without a type")
    return found


def _anthropic_block(block: Any) -> Block:
    kind = block.get("type")
    if kind == "text":
        return Block("text", block.get("text"))
    if kind == "tool_use":
        return Block("call", block.get("id"), block.get("name"), block.get("input"))
    return Block("result", block.get("tool_use_id")) if kind == "tool_result" else Block("other")


def bedrock_converse(document: Any) -> list[str]:
    """Amazon Bedrock API reference, Converse, ToolUseBlock, ToolResultBlock.

    Refused with ``ValidationException``: "A conversation must start with a user message", "A conversation must
    alternate between user and assistant roles", "Expected toolResult blocks at messages.N.content for the following
    Ids", "The number of toolResult blocks exceeds the number of toolUse blocks of previous turn", "The text field in
    the ContentBlock object is blank", "Provide a json object for the field" (``toolUse.input``). Instructions are a
    list of blocks beside the messages.
    """
    found = list(_messages(document["messages"], _bedrock_block, Pattern(_BEDROCK_ID, _BEDROCK_NAME)))
    for block in document.get("system", ()):
        found += ["blank instructions"] if "text" in block and is_blank(block["text"]) else []
    for message in document["messages"]:
        for block in message["content"]:
            if len(block) != 1:
                found.append("a block that is not one thing")
            for each in block.get("toolResult", {}).get("content", ()):
                found += ["a blank text in a result"] if "text" in each and is_blank(each["text"]) else []
    return found


def _bedrock_block(block: Any) -> Block:
    if "text" in block:
        return Block("text", block["text"])
    if "toolUse" in block:
        call = block["toolUse"]
        return Block("call", call.get("toolUseId"), call.get("name"), call.get("input"))
    return Block("result", block["toolResult"].get("toolUseId")) if "toolResult" in block else Block("other")


def _messages(messages: Sequence[Any], see: Callable[[Any], Block], pattern: Pattern) -> Iterator[str]:
    yield from digests(messages)
    if not messages or messages[0].get("role") != "user":
        yield "the first message is no user's"
    ids: set[Any] = set()
    open_: list[Any] = []
    before = None
    for place, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        if role not in ("user", "assistant"):
            yield f"{place}: a role that no message has"
        if role == before:
            yield f"{place}: two messages of one role"
        before = role
        seen = [Block("text", content)] if isinstance(content, str) else [see(block) for block in content or ()]
        if not seen:
            yield f"{place}: no content"
        yield from (f"{place}: {each}" for each in _answers(seen, open_, is_last=place == len(messages) - 1))
        open_ = [block.value for block in seen if block.kind == "call"]
        yield from (f"{place}: {each}" for each in _said(seen, role, ids, pattern))
    if messages and messages[-1].get("role") == "assistant":
        last = messages[-1]["content"]
        last = last if isinstance(last, str) else see(last[-1]).value if last and see(last[-1]).kind == "text" else ""
        if last != last.rstrip():
            yield "an answer that ends in white space"


def _answers(seen: Sequence[Block], open_: list[Any], *, is_last: bool) -> Iterator[str]:
    """The results of a message are those of the calls of the one before it; the last may lack some that come."""
    results = [block.value for block in seen if block.kind == "result"]
    kinds = [block.kind == "result" for block in seen]
    if kinds != sorted(kinds, reverse=True):
        yield "a result behind something else"
    left = list(open_)
    for each in results:
        if each not in left:
            yield "a result of no call of the message before"
        else:
            left.remove(each)
    if left and not (is_last and len(results) == len(seen)):
        yield "calls without results"


def _said(seen: Sequence[Block], role: Any, ids: set[Any], pattern: Pattern) -> Iterator[str]:
    has_call = False
    for block in seen:
        if block.kind == "text":
            if is_blank(block.value):
                yield "a blank text"
            if has_call:
                yield "a text behind a call"
        elif block.kind == "call":
            has_call = True
            if role != "assistant":
                yield "a call of a user"
            if block.value in ids:
                yield "an id of two calls"
            ids.add(block.value)
            if not isinstance(block.value, str) or not pattern.id.fullmatch(block.value):
                yield "an odd id"
            if not isinstance(block.name, str) or not pattern.name.fullmatch(block.name):
                yield "an odd name"
            if not isinstance(block.input, dict):
                yield "an input that is no object"
        elif block.kind == "result" and role != "user":
            yield "a result of the assistant"
