"""What of a turn a model is sent, as the texts that a counter counts, and the tokens that stand around them.

The content, who spoke, each call with its name, arguments and id, each result with the name and the id of its call, and
what a format's reader kept of the message beside these because its provider wants it back: thinking, signatures,
encrypted reasoning, parts that are no text. What the other texts hold already counts once, and binary data as the
digest that stands for them. Times, usage and other records of an answer are sent to nobody.

The tokens around them are those of OpenAI's chat format (openai/openai-cookbook, How_to_count_tokens_with_tiktoken:
3 a message and its role, 1 a name, 3 for the answer that the window asks for); a call is taken for a message's part.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from agent.core.canonical import encode
from agent.core.turn import SessionTurn

PER_WINDOW: Final = 3
# Each of our roles is one token, in cl100k and in o200k.
PER_MESSAGE: Final = 3 + 1
PER_NAME: Final = 1
PER_CALL: Final = 4
# Members of ``metadata.native`` that providers are given back; ``metadata.blocks`` is what callers keep themselves.
_GIVEN_BACK: Final = ("parts", "content", "item", "reasoning", "reasoning_content", "reasoning_details")
# What tells of what kind a part is, and which one; a model is sent no word of it.
_LABELS: Final = frozenset({"type", "id", "role", "status"})

# The tokens of one text.
TextCounter = Callable[[str], int]


class Sent(NamedTuple):
    """The texts of one message, none of them empty, and the tokens around them."""

    texts: tuple[str, ...]
    around: int


def sent(turn: SessionTurn) -> Sent:
    """What of ``turn`` a model is sent. Nothing in it is refused, whoever wrote it."""
    texts = [turn.content] if turn.content else []
    around = PER_MESSAGE
    metadata = turn.fields.get("metadata")
    if isinstance(metadata, dict):
        agent = metadata.get("agent")
        if isinstance(agent, str) and agent:
            texts.append(agent)
            around += PER_NAME
    calls = turn.invocations
    if calls:
        around += PER_CALL * len(calls)
        for call in calls:
            texts += _call_texts(call, is_result=turn.role == "tool")
    if isinstance(metadata, dict) and ("native" in metadata or "blocks" in metadata):
        texts += _kept_texts(metadata, texts)
    return Sent(tuple(texts), around)


def message_tokens(turn: SessionTurn, count: TextCounter) -> int:
    """The tokens of ``turn``, each of its texts counted by ``count``."""
    texts, around = sent(turn)
    return around + sum(map(count, texts))


def _call_texts(call: Mapping[str, Any], *, is_result: bool) -> Iterator[str]:
    # A result may be held with the arguments of its call; they are sent with the call.
    for text in (call.get("tool_name"), call.get("native_id") or call.get("invocation_id")):
        if isinstance(text, str) and text:
            yield text
    if "arguments" in call and not is_result:
        yield _json_text(call["arguments"]) or '""'


def _json_text(value: Any) -> str:
    """The text that a client holds for arguments: compact JSON, or the string that they are."""
    if isinstance(value, str):
        return value
    try:
        return encode(value).decode()
    except (TypeError, ValueError):
        # A lone surrogate, or a number in a type of the reader's own.
        return json.dumps(value, ensure_ascii=False, default=str)


def _kept_texts(metadata: Mapping[str, Any], told: Sequence[str]) -> list[str]:
    """The texts in what is given back of a message, without those in ``told``."""
    native = metadata.get("native")
    kept = [native.get(name) for name in _GIVEN_BACK] if isinstance(native, dict) else []
    found = []
    for text in _strings([*kept, metadata.get("blocks")]):
        escaped = json.dumps(text, ensure_ascii=False)[1:-1]
        if not any(text in each or escaped in each for each in told):
            found.append(text)
    return found


def _strings(value: Any) -> Iterator[str]:
    """The strings in ``value`` that are not empty and no labels, in order."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if item:
                yield item
        elif isinstance(item, dict):
            pending += [member for name, member in reversed(item.items()) if name not in _LABELS]
        elif isinstance(item, list):
            pending += reversed(item)
