"""Recorded calls of ``generateContent`` as the conversations that they are.

A client sends again what it got, and changes it: the API answers without ids, and clients that need some make them up;
some write signatures in another alphabet. What came first stays, so that a recording that grows only adds turns: a call
that is sent again with an id of the client's is the one that was answered without, and what answers it goes by the
order of its function's calls. Where results come in another order, that would be another call's result: then the call
with the client's ids is a message of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats.common_fields import refusal_of
from agent.formats.conversation.message import Call, Conversation, Ignored, Message
from agent.formats.conversation.model_calls import Line, ModelCall, lines_of, said_key
from agent.formats.conversation.recording import Recorded
from agent.formats.gemini_answer import Answer, answers_of, response_of_call, said_again
from agent.formats.gemini_native import messages_of
from agent.formats.gemini_pairs import OpenCalls
from agent.formats.gemini_parts import CAMEL, Turn, member
from agent.formats.gemini_request import (
    Sent,
    as_sent,
    instructions,
    is_request,
    options_of,
    read_messages,
    sent_contents,
    turns_of,
)


def conversations_of(
    calls: Sequence[Recorded], answers_at: str | None = None
) -> Iterator[Conversation | ValidationError]:
    """What was said in recorded calls of this API; calls of others, and those without an answer, are counted.

    ``answers_at`` is where the candidates of a response stand that came alone.
    """
    ignored = Ignored()
    problems: list[Problem] = []
    said: list[ModelCall] = []
    requests: list[tuple[ModelCall, Mapping[str, Any]]] = []
    history = _History()
    for number, call in enumerate(calls):
        path = "$" if len(calls) == 1 else f"$.interactions[{number}]"
        response = response_of_call(call)
        sent = call.request if is_request(call.request, is_sure=response is not None) else None
        if sent is None and response is None:
            ignored.add("calls of something else", path)
            continue
        inputs = history.messages({} if sent is None else sent, f"{path}.request.contents", problems)
        answers = [] if response is None else answers_of(response)
        if not answers:
            ignored.add("calls without an answer", f"{path}.response")
        for kind in () if response is None else said_again(response):
            ignored.add(kind, f"{path}.response")
        outputs = list(_answered(answers, answers_at or f"{path}.response.candidates", problems))
        for output in outputs:
            history.answered(output)
        said += [ModelCall(inputs, output) for output in outputs or [[]]]
        requests += [] if sent is None else [(said[-1], sent)]
    if problems:
        yield refusal_of(problems)
        return
    for number, line in enumerate(lines_of(said)):
        options = options_of(sent for call, sent in requests if _begins(call, line))
        beside = ignored if number == 0 else Ignored()
        yield Conversation(line.messages, number=number, leaf=line.leaf, native=options, ignored=beside)


def _begins(call: ModelCall, line: Line) -> bool:
    if not call.inputs:
        return False
    one, other = call.inputs[0], line.messages[0]
    return (one.role, one.content, list(one.calls)) == (other.role, other.content, list(other.calls))


def _answered(answers: Sequence[Answer], path: str, problems: list[Problem]) -> Iterator[list[Message]]:
    """The messages of each candidate, the first one last: it is the one that the conversation went on from."""
    for index, answer in reversed(list(enumerate(answers))):
        # One without a content says why in the candidate (``finishReason``).
        content = {} if answer.content is None else answer.content
        sent = Sent(content, f"{path}[{index}].content", "0", {})
        messages = read_messages(sent, OpenCalls(), problems, default="assistant")
        yield [_of_answer(message, answer, first=place == 0) for place, message in enumerate(messages)]


def _of_answer(message: Message, answer: Answer, *, first: bool) -> Message:
    native = dict(message.native or {})
    if first:
        kept = {"candidate": answer.candidate, "response": answer.response}
        native |= {name: value for name, value in kept.items() if value}
    # Without a role it would be the user's when it is sent again.
    absent = [name for name in message.absent if name != "role"]
    fields = native.get("fields")
    if isinstance(fields, dict) and fields.get("role", "model") in (None, ""):
        native["fields"] = {name: value for name, value in fields.items() if name != "role"}
    model = answer.model if message.role == "assistant" else None
    usage = answer.usage if first else None
    told = (("timestamp", answer.timestamp), ("model", answer.model), ("token_usage", usage))
    return message._replace(
        native=native or None,
        absent=absent,
        timestamp=answer.timestamp,
        model=model,
        usage=usage,
        derived=[name for name, value in told if value is not None],
    )


class _Node:
    """What came after some messages: by what it says, and the messages whose calls had no ids by what else they say."""

    __slots__ = ("following", "without_ids")

    def __init__(self) -> None:
        self.following: dict[bytes, _Node] = {}
        self.without_ids: dict[bytes, Message] = {}

    def after(self, message: Message) -> _Node:
        """What came after ``message``, which is known from here on."""
        key = said_key(message)
        node = self.following.get(key)
        if node is None:
            node = self.following[key] = _Node()
            if any(call.native_id == call.name for call in message.calls):
                self.without_ids.setdefault(_key_without_ids(message), message)
        return node


def _key_without_ids(message: Message) -> bytes:
    return said_key(message._replace(calls=[call._replace(native_id=None) for call in message.calls]))


class _History:
    """Reads the requests of a recording, of which each mostly sends again what the one before it sent."""

    def __init__(self) -> None:
        self._root = _Node()
        self._reset([])

    def _reset(self, told: list[Message]) -> None:
        self._contents: list[Any] = []
        self._messages: list[Message] = []
        self._last: Any = None
        self._calls = OpenCalls()
        self._told = told
        self._at = self._root
        for message in told:
            self._at = self._at.after(message)

    def messages(self, body: Mapping[str, Any], path: str, problems: list[Problem]) -> list[Message]:
        """The messages of the request ``body``, each as it came first; none of an empty one."""
        contents = body.get("contents", [])
        listed = contents if isinstance(contents, list) else [contents]
        told = list(instructions(body, path.removesuffix(".contents"), problems))
        sent = sent_contents(body, path, problems) if body else []
        known = len(self._contents)
        before = [each for each in sent if int(each.place) < known]
        goes_on = not problems and told == self._told and listed[:known] == self._contents
        if not goes_on or (before and before[-1].content != self._last):
            self._reset(told)
            before = []
        for index, each in enumerate(sent[len(before) :], len(before)):
            for message in self._read(each, sent[index + 1 :], problems):
                self._messages.append(message)
                self._at = self._at.after(message)
            if len(problems) >= MAX_PROBLEMS:
                break
        self._contents, self._last = listed, sent[-1].content if sent else None
        return [*told, *self._messages]

    def answered(self, messages: Sequence[Message]) -> None:
        """``messages`` are what the latest request was answered."""
        node = self._at
        for message in messages:
            node = node.after(message)

    def _read(self, sent: Sent, later: Sequence[Sent], problems: list[Problem]) -> list[Message]:
        if not isinstance(sent.content, dict):
            return read_messages(sent, self._calls, problems)
        found = len(problems)
        turns = turns_of(sent, problems)
        if len(problems) > found:
            return []
        known = self._known(turns, later)
        if known is not None:
            self._calls.add([turns[0]._replace(calls=tuple(known.calls))])
            return [known]
        return as_sent(messages_of(self._calls.add(turns), sent.content, sent.place, CAMEL), sent)

    def _known(self, turns: Sequence[Turn], later: Sequence[Sent]) -> Message | None:
        """The message that came without ids, and is sent again as ``turns``."""
        if len(turns) != 1 or not turns[0].calls:
            return None
        message = Message(turns[0].role, turns[0].content, "", calls=turns[0].calls)
        if said_key(message) in self._at.following:
            return None
        known = self._at.without_ids.get(_key_without_ids(message))
        if known is None:
            return None
        pairs = zip(known.calls, message.calls, strict=True)
        is_known = all(came.native_id in (came.name, sent.native_id) for came, sent in pairs)
        return known if is_known and _in_order(message.calls, later) else None


def _in_order(calls: Sequence[Call], later: Sequence[Sent]) -> bool:
    """Whether ``calls`` of one function are answered in their order, in the contents up to the next that calls."""
    names = {call.native_id: call.name for call in calls}
    waiting = {name: [call.native_id for call in reversed(calls) if call.name == name] for name in names.values()}
    for sent in later:
        parts = sent.content.get("parts") if isinstance(sent.content, dict) else None
        objects = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
        if any(member(part, "functionCall") is not None for part in objects):
            break
        for response in (member(part, "functionResponse") for part in objects):
            named = response.get("id") if isinstance(response, dict) else None
            if not isinstance(named, str) or named not in names:
                continue
            open_calls = waiting[names[named]]
            if not open_calls or open_calls.pop() != named:
                return False
    return True
