"""Calls of the Responses API with what they came back with: answers, the events of a stream, and recordings of many.

A stream's last event has the whole answer; where it was cut off, the items that were done make it (OpenAI API
reference, Responses, streaming). A call that goes on from ``previous_response_id`` or in a ``conversation`` was sent
only what is new: what the recording knows from before stands before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from agent.errors import Problem, ValidationError
from agent.formats.common_fields import refusal_of
from agent.formats.conversation.message import Conversation, Ignored, Message
from agent.formats.conversation.model_calls import ModelCall, lines_of
from agent.formats.conversation.recording import Recorded
from agent.formats.conversation.times import from_epoch
from agent.formats.conversation.usage import token_usage
from agent.formats.end_user import context_of, end_user
from agent.formats.response_item_kept import INSTRUCTIONS
from agent.formats.response_items import read_items

_FORM: Final = "openai-responses"
_COMPACTED: Final = "response.compaction"
_ANSWERS: Final = frozenset({"response", _COMPACTED})

ReadRequest = Callable[[Mapping[str, Any], str, list[Problem]], list[Message]]


def is_answer(document: Any) -> bool:
    """A response, or a compacted one, with its output."""
    if not isinstance(document, dict) or not isinstance(document.get("output"), list):
        return False
    named = document.get("object")
    return isinstance(named, str) and named in _ANSWERS


def answered(call: Recorded) -> Any:
    """The body that ``call`` came back with, also where it was streamed; None where there is none."""
    return call.response if call.events is None else _joined(call.events)


def _joined(events: Iterable[Any]) -> dict[str, Any] | None:
    """The response that ``events`` end with, or have made as far as they go."""
    whole: dict[str, Any] | None = None
    done: dict[int, Any] = {}
    for event in events:
        if not isinstance(event, dict):
            continue
        if isinstance(event.get("response"), dict):
            whole = event["response"]
        elif event.get("type") == "response.output_item.done":
            index = event.get("output_index")
            done[index if isinstance(index, int) else len(done)] = event.get("item")
    if done and (whole is None or not whole.get("output")):
        whole = {"object": "response", **(whole or {}), "output": [done[index] for index in sorted(done)]}
    return whole


def with_answer(messages: Sequence[Message], body: Mapping[str, Any]) -> list[Message]:
    """``messages``, which ``body`` has as its output, with its time, model and token counts; the counts once."""
    named = body.get("model")
    model = named if isinstance(named, str) else None
    usage = token_usage(body.get("usage"), "input_tokens", "output_tokens", "total_tokens")
    time = from_epoch(body.get("created_at"))
    last = max((place for place, message in enumerate(messages) if message.role == "assistant"), default=None)
    return [
        message._replace(
            timestamp=time,
            model=model if message.role == "assistant" else None,
            usage=usage if place == last else None,
            # The answer said it, not its items.
            derived=("timestamp", "model", "token_usage"),
        )
        for place, message in enumerate(messages)
    ]


def recorded(calls: Sequence[Recorded], read_request: ReadRequest) -> Iterator[Conversation | ValidationError]:
    """What was said in recorded calls of this API; calls of others, and those without an answer, are counted."""
    recording = _Recording(read_request)
    for number, call in enumerate(calls):
        recording.add(call, "$" if len(calls) == 1 else f"$.interactions[{number}]")
    if recording.problems:
        yield refusal_of(recording.problems)
        return
    for number, line in enumerate(lines_of(recording.said)):
        ignored = recording.ignored if number == 0 else Ignored()
        context = context_of(line.users, "$", ignored)
        yield Conversation(line.messages, number=number, leaf=line.leaf, context=context, ignored=ignored)


class _Recording:
    """Calls in their order, and what was said up to each answer, for those that go on from it."""

    def __init__(self, read_request: ReadRequest) -> None:
        self._read_request = read_request
        self._until: dict[str, list[Message]] = {}
        self._sent_for: dict[str, list[Message]] = {}
        self.said: list[ModelCall] = []
        self.problems: list[Problem] = []
        self.ignored = Ignored()

    def add(self, call: Recorded, path: str) -> None:
        request = call.request if isinstance(call.request, dict) and "input" in call.request else None
        answer = answered(call)
        answer = answer if is_answer(answer) else None
        if (request is None and answer is None) or _is_of_another(call, answer):
            self.ignored.add("calls of something else", path)
            return
        inputs = self._asked(answer or {}) if request is None else self._sent(request, path)
        user = end_user(_FORM, request, f"{path}.request", self.ignored)
        if answer is None:
            self.ignored.add("calls without an answer", f"{path}.response")
            self.said.append(ModelCall(inputs, (), user))
            return
        # An answer says again whom it was for; alone, it is the one that does.
        user = user or end_user(_FORM, answer, f"{path}.response", self.ignored)
        outputs = with_answer(read_items(answer["output"], f"{path}.response.output", self.problems), answer)
        if answer["object"] == _COMPACTED:
            # It takes the place of what was sent: whoever goes on sends it as the beginning of a list.
            self.said += [ModelCall(inputs, (), user), ModelCall(outputs, (), user)]
        else:
            self.said.append(ModelCall(inputs, outputs, user))
        names = [name for name in (answer.get("id"), _conversation(request or answer)) if isinstance(name, str)]
        self._sent_for |= dict.fromkeys(names[:1], inputs)
        self._until |= dict.fromkeys(names, outputs if answer["object"] == _COMPACTED else [*inputs, *outputs])
        if len(answer) > 2 or (request is not None and len(request) > 1):
            self.ignored.add("options and details of calls", path)

    def _asked(self, answer: Mapping[str, Any]) -> list[Message]:
        """What an answer that was fetched later is the answer to."""
        named = answer.get("id")
        return self._sent_for.get(named, []) if isinstance(named, str) else []

    def _sent(self, request: Mapping[str, Any], path: str) -> list[Message]:
        """What the model was given: what is known from before, and what the call was sent."""
        inputs = self._read_request(request, f"{path}.request", self.problems)
        named = request.get("previous_response_id") or _conversation(request)
        if not isinstance(named, str):
            return inputs
        before = self._until.get(named)
        if before is None:
            if named == request.get("previous_response_id"):
                self.ignored.add("answers before the recording", path)
            return inputs
        told = next((each.content for each in reversed(before) if _is_instructions(each)), None)
        # Instructions that stand already are not said again.
        return [*before, *(each for each in inputs if not (_is_instructions(each) and each.content == told))]


def _is_of_another(call: Recorded, answer: Any) -> bool:
    """Whether an input came back as what no call of this API comes back as (embeddings, moderation)."""
    response = call.response
    return answer is None and isinstance(response, dict) and ("data" in response or "results" in response)


def _conversation(body: Mapping[str, Any]) -> str | None:
    named = body.get("conversation")
    named = named.get("id") if isinstance(named, dict) else named
    return named if isinstance(named, str) else None


def _is_instructions(message: Message) -> bool:
    return (message.native or {}).get("of") == INSTRUCTIONS
