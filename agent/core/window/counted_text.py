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

from agent.core.turn import SessionTurn
from agent.core.window.json_text import json_text

PER_WINDOW: Final = 3
# Each of our roles is one token, in cl100k and in o200k.
PER_MESSAGE: Final = 3 + 1
PER_NAME: Final = 1
PER_CALL: Final = 4
# Members of ``metadata.native`` that providers are given back; ``metadata.blocks`` is what callers keep themselves.
_GIVEN_BACK: Final = ("parts", "content", "item", "reasoning", "reasoning_content", "reasoning_details")
# Members of ``metadata`` that are sent beside the content.
_BESIDE: Final = frozenset({"agent", "native", "blocks"})
# What tells of what kind a part is, and which one; a model is sent no word of it.
_LABELS: Final = frozenset({"type", "id", "role", "status"})

# So many characters are searched for what native parts say again out of its order, and so many times what is told. The
# bound is for a message of thousands of parts that are told nowhere: the last of them then count, told or not.
_SEARCHED: Final = 2_000_000
_SEARCHES: Final = 32

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
        texts += _kept_texts(metadata, turn.content, texts[1:] if turn.content else texts)
    return Sent(tuple(texts), around)


def content_alone(turn: SessionTurn) -> str | None:
    """The content of ``turn`` where that is all that ``sent`` has of it, so what most turns are; else None.

    Where it is not empty, ``sent(turn)`` is ``((content,), PER_MESSAGE)``.
    """
    fields = turn.fields
    if fields.get("tool_invocations"):
        return None
    metadata = fields.get("metadata")
    if metadata and isinstance(metadata, dict) and not _BESIDE.isdisjoint(metadata):
        return None
    return turn.content


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
    return value if isinstance(value, str) else json_text(value)


def _kept_texts(metadata: Mapping[str, Any], content: str | None, told: Sequence[str]) -> list[str]:
    """The texts in what is given back of a message, without those in ``content`` or ``told``."""
    native = metadata.get("native")
    kept = [native.get(name) for name in _GIVEN_BACK] if isinstance(native, dict) else []
    is_told = _Told(content or "", told)
    return [text for text in _strings([*kept, metadata.get("blocks")]) if not is_told(text)]


class _Told:
    """Whether a text is in one of those that are counted already, as it is or as it stands in JSON.

    The parts of a message mostly say in their order what its content and its calls say: each is looked for behind the
    one before it, and only what is not there is looked for everywhere, as often as the bound allows.
    """

    def __init__(self, content: str, told: Sequence[str]) -> None:
        self._whole = frozenset(told)
        # Parted by what no text has within: the content, and what the calls say.
        self._in = [content, "\x00".join(told)]
        self._from = [0, 0]
        self._left = _SEARCHED + _SEARCHES * sum(map(len, self._in))

    def __call__(self, text: str) -> bool:
        if text in self._whole:
            return True
        escaped = json.dumps(text, ensure_ascii=False)[1:-1]
        forms = (text,) if escaped == text else (text, escaped)
        return any(self._is_in(which, form) for which in (0, 1) for form in forms)

    def _is_in(self, which: int, text: str) -> bool:
        among, start = self._in[which], self._from[which]
        if len(text) > len(among):
            return False
        if self._left <= 0:
            return among.startswith(text, start)
        found = among.find(text, start)
        if found >= 0:
            self._from[which] = found + len(text)
            return True
        self._left -= len(among)
        return among.find(text, 0, start + len(text)) >= 0


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
