"""The format ``openai-chat``: a list of Chat Completions messages (CONTRACT 3a), as clients hold and send it.

``{messages}`` as it is sent, a list alone, a ``chat.completion`` that came back, and recorded calls
``{request, response}``. Every message is one turn, named by its place whatever ``id`` it carries (ADR 0006).
Refuses, with every path that is wrong: unknown roles and wrong types. Whatever clients really send is kept.

What a turn's own fields do not hold stands in ``metadata.native``, by the message's own names. ``native_absent`` names
fields that the turn suggests and the message lacks. What an answer says beside its message is ``native.answer``, and
then ``answer`` is among the turn's ``derived``: a message may have a member of that name itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from agent.core.canonical import canonical
from agent.core.json_path import json_path
from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats import OPENAI_CHAT
from agent.formats.common_fields import POSTED, refusal_of
from agent.formats.content_parts import without_binaries
from agent.formats.conversation.message import Call, Conversation, Ignored, Message, Result
from agent.formats.conversation.model_calls import Line, ModelCall, lines_of, said_key
from agent.formats.conversation.recording import Recorded, recorded_calls
from agent.formats.end_user import FIELDS, context_of, end_user
from agent.formats.openai_answer import Answer, answered, is_answer
from agent.formats.openai_message import ANSWER, ROLES, MessageDraft, read_message
from agent.formats.tool_calls import ArgumentReader
from agent.formats.writing import Session, Written

# The Chat Completions reference, requests and answers, and what this reader takes beside it.
_MESSAGE_FIELDS: Final = frozenset(
    {"role", "content", "name", "refusal", "audio", "annotations", "tool_calls", "tool_call_id", "function_call"}
    | {"id", "timestamp"}
)
_USER_FIELDS: Final = tuple(name for name, *_ in FIELDS[OPENAI_CHAT])
# Where the message has a member of that name itself, or was known before its answer came.
_UNTOLD: Final = "details of answers"


def detect(document: Any) -> bool:
    """Messages with roles of Chat Completions, alone, in ``messages``, in an answer, or in recorded calls."""
    calls = recorded_calls(document)
    if calls is not None:
        return any(_has_messages(call.request) or _is_answered(call) for call in calls)
    return _has_messages(document) or _is_answer(document) or _is_list(document)


def _has_messages(document: Any) -> bool:
    return isinstance(document, dict) and _is_list(document.get("messages"))


def _is_list(messages: Any) -> bool:
    if not isinstance(messages, list):
        return False
    objects = [message for message in messages if isinstance(message, dict)]
    return bool(objects) and all(isinstance(m.get("role"), str) and m["role"] in ROLES for m in objects)


def _is_answer(document: Any) -> bool:
    return is_answer(document) and "messages" not in document


def _is_answered(call: Recorded) -> bool:
    return _is_answer(call.response) if call.events is None else any(map(_is_answer, call.events))


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversations of ``document``: one in a list of messages, in recorded calls as many as they begin."""
    recorded = recorded_calls(document)
    if recorded is not None:
        yield from _recorded(recorded)
    elif _is_answer(document):
        # What says where it belongs is no part of it, but of the body that it was posted as.
        posted = POSTED if isinstance(document.get("session_id"), str) else frozenset()
        answer = {name: value for name, value in document.items() if name not in posted}
        yield from _recorded([Recorded(None, answer, None, None)])
    elif isinstance(document, dict | list):
        yield _body(document)
    else:
        yield refusal_of([Problem("$", "type")])


def _body(document: Any) -> Conversation | ValidationError:
    messages, path = (document, "$") if isinstance(document, list) else (document.get("messages"), "$.messages")
    problems: list[Problem] = []
    drafts = _read_messages(messages, path, problems)
    if isinstance(document, dict) and "messages" not in document:
        problems = [Problem(path, "required")]
    if problems:
        return refusal_of(problems)
    ignored = Ignored()
    user = end_user(OPENAI_CHAT, document, "$", ignored)
    native = {name: document[name] for name in _USER_FIELDS if name in document} if isinstance(document, dict) else {}
    return Conversation(
        _messages(drafts),
        context=context_of([user], "$", ignored),
        native=native,
        ignored=ignored,
        warnings=_unknown_in_messages(messages, path),
    )


def _read_messages(messages: Any, path: str, problems: list[Problem]) -> list[MessageDraft]:
    if not isinstance(messages, list):
        problems.append(Problem(path, "type"))
        return []
    if not messages:
        problems.append(Problem(path, "minItems"))
    arguments = ArgumentReader()
    drafts = []
    for index, message in enumerate(messages):
        draft = read_message(message, f"{path}[{index}]", arguments, problems)
        if draft is not None:
            drafts.append(draft)
        if len(problems) >= MAX_PROBLEMS:
            break
    return drafts


def _unknown_in_messages(messages: list[dict[str, Any]], path: str) -> tuple[Problem, ...]:
    """A warning for each field that no Chat Completions message has, where it occurs first: a typo is seen."""
    first: dict[str, Problem] = {}
    for index, message in enumerate(messages):
        if not message.keys() <= _MESSAGE_FIELDS:
            for name in message:
                if name not in _MESSAGE_FIELDS:
                    at = path.removeprefix("$").removeprefix(".")
                    parts = (at, index, name) if at else (index, name)
                    first.setdefault(name, Problem(json_path(parts), "unknown_field"))
    return tuple(first.values())


def _messages(drafts: Iterable[MessageDraft]) -> list[Message]:
    return [_message(draft, index) for index, draft in enumerate(drafts)]


def _message(draft: MessageDraft, index: int) -> Message:
    success = False if draft.is_error else None
    results = () if draft.result_of is None else (Result(draft.result_of, draft.tool_name, success),)
    return Message(
        draft.role,
        draft.content,
        str(index),
        timestamp=draft.timestamp,
        calls=[Call(c.tool_name, c.native_id, c.arguments if c.has_arguments else ...) for c in draft.calls],
        results=results,
        native=draft.native,
        absent=draft.absent,
    )


def _recorded(calls: Sequence[Recorded]) -> Iterator[Conversation | ValidationError]:
    """What was said in recorded calls of this provider; calls of others, and those without an answer, are counted."""
    recording = _Recording()
    for number, call in enumerate(calls):
        recording.add(call, "$" if len(calls) == 1 else f"$.interactions[{number}]")
    if recording.problems:
        yield refusal_of(recording.problems)
        return
    lines = lines_of(recording.said)
    native = recording.told(lines)
    for number, line in enumerate(lines):
        ignored = recording.ignored if number == 0 else Ignored()
        context = context_of(line.users, "$", ignored)
        yield Conversation(
            line.messages, number=number, leaf=line.leaf, context=context, native=native, ignored=ignored
        )


class _Recording:
    """What recorded calls said, and what of it no message holds: the options of each, and what answers left out."""

    def __init__(self) -> None:
        self.said: list[ModelCall] = []
        self.problems: list[Problem] = []
        self.ignored = Ignored()
        self._calls = 0
        self._options: list[tuple[str, Mapping[str, Any]]] = []

    def add(self, call: Recorded, path: str) -> None:
        request: Mapping[str, Any] = call.request if isinstance(call.request, dict) else {}
        sent = request.get("messages")
        answer = answered(call)
        if sent is None and not answer.choices:
            self.ignored.add("calls of something else", path)
            return
        self._calls += 1
        user = end_user(OPENAI_CHAT, request, f"{path}.request", self.ignored)
        inputs = [] if sent is None else _messages(_read_messages(sent, f"{path}.request.messages", self.problems))
        if call.request is not None and not isinstance(call.request, dict):
            self.ignored.add("requests of something else", f"{path}.request")
        options = {name: value for name, value in request.items() if name != "messages"}
        self._options += [(f"{path}.request", options)] if options else []
        for kind, count in answer.left_out.items():
            for _ in range(count):
                self.ignored.add(kind, f"{path}.response")
        if not answer.choices:
            self.ignored.add("calls without an answer", f"{path}.response")
            self.said.append(ModelCall(inputs, (), user))
        # The first one last: it is the one that the conversation went on from.
        for choice in reversed(answer.choices):
            draft = read_message(choice.message, f"{path}.response", ArgumentReader(), self.problems)
            if draft is not None:
                self.said.append(ModelCall(inputs, [self._answer(draft, choice, f"{path}.response")], user))

    def _answer(self, draft: MessageDraft, answer: Answer, path: str) -> Message:
        """The message of ``answer``, with what that says of it: named as derived, since the message does not."""
        message = _message(draft, 0)._replace(model=answer.model, usage=answer.usage)
        derived = []
        if message.timestamp is None and answer.timestamp is not None:
            message = message._replace(timestamp=answer.timestamp)
            derived.append("timestamp")
        if answer.beside and ANSWER in draft.native:
            self.ignored.add(_UNTOLD, path)
        elif answer.beside:
            message = message._replace(native={**draft.native, ANSWER: without_binaries(ANSWER, answer.beside)})
            derived.append(ANSWER)
        return message._replace(derived=derived)

    def told(self, lines: Sequence[Line]) -> Mapping[str, Any]:
        """The options of the only call. Those of several are counted, and other details of an answer known before."""
        kept = {_details(message) for line in lines for message in line.messages if ANSWER in message.derived}
        for said in self.said:
            for message in said.outputs:
                if ANSWER in message.derived and _details(message) not in kept:
                    self.ignored.add(_UNTOLD, "$")
        if self._calls == 1:
            return self._options[0][1] if self._options else {}
        for path, _ in self._options:
            self.ignored.add("options of calls", path)
        return {}


def _details(message: Message) -> bytes:
    return said_key(message) + canonical((message.native or {}).get(ANSWER))


def write(session: Session) -> Written:
    """The history of ``session`` as one list of messages."""
    from agent.formats.openai_chat_out import write as write_messages  # a capture only reads

    return write_messages(session)
