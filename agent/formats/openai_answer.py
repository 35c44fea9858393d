"""What a Chat Completions call came back with: a ``chat.completion``, or the chunks that it was streamed as."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from agent.formats.conversation.recording import Recorded
from agent.formats.conversation.times import from_epoch
from agent.formats.conversation.usage import token_usage
from agent.formats.openai_chunks import joined

WITHOUT_MESSAGE: Final = "choices without a message"


class Answer(NamedTuple):
    """One choice: its message as the provider wrote it, and what the answer says ``beside`` it, by its own names.

    What is the whole answer's stands with the first choice alone, and so does its ``usage``: both are said once.
    """

    message: Mapping[str, Any]
    beside: Mapping[str, Any]
    model: str | None
    usage: Mapping[str, int] | None
    timestamp: str | None


class Answered(NamedTuple):
    """The choices of an answer in their order, and by kind what of it none of them holds."""

    choices: list[Answer]
    left_out: Counter[str]


def is_answer(document: Any) -> bool:
    """Whether ``document`` is an answer, or a chunk of one: a choice has a message, or what is added to one."""
    choices = document.get("choices") if isinstance(document, dict) else None
    return isinstance(choices, list) and any(_has(choice, "message") or _has(choice, "delta") for choice in choices)


def _has(choice: Any, name: str) -> bool:
    return isinstance(choice, dict) and isinstance(choice.get(name), dict)


def answers_of(call: Recorded) -> list[Answer]:
    """The choices that ``call`` came back with, in their order; none where it failed or is no Chat Completions call."""
    return answered(call).choices


def answered(call: Recorded) -> Answered:
    """What ``call`` came back with; no choices where it failed or is no Chat Completions call."""
    left: Counter[str] = Counter()
    body = _body(call, left)
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(choices, list):
        return Answered([], +left)
    found = [choice for choice in choices if _has(choice, "message")]
    left[WITHOUT_MESSAGE] += len(choices) - len(found)
    model = body.get("model")
    model = model if isinstance(model, str) else None
    usage = token_usage(body.get("usage"), "prompt_tokens", "completion_tokens", "total_tokens")
    whole = {name: value for name, value in body.items() if name != "choices"}
    answers = [
        Answer(
            choice["message"],
            {**({} if place else whole), **_beside(choice)},
            model,
            None if place else usage,
            from_epoch(body.get("created")),
        )
        for place, choice in enumerate(found)
    ]
    return Answered(answers, +left)


def _body(call: Recorded, left: Counter[str]) -> Any:
    if call.events is not None:
        return joined(call.events, left)
    body = call.response
    if is_answer(body) and not any(_has(choice, "message") for choice in body["choices"]):
        # One chunk, kept alone.
        return joined([body], left)
    return body


def _beside(choice: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a choice but its message, where an answer has them: among its ``choices``."""
    others = {name: value for name, value in choice.items() if name != "message"}
    return {"choices": [others]} if others else {}
