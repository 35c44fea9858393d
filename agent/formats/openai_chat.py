"""The format ``openai-chat``: a list of Chat Completions messages (CONTRACT 3a), as clients hold and send it.

``{messages}`` as it is sent, a list alone, a ``chat.completion`` that came back, and recorded calls
``{request, response}``. Every message is one turn, named by its place whatever ``id`` it carries (ADR 0006).
Refuses, with every path that is wrong: unknown roles and wrong types. Whatever clients really send is kept.

What a turn's own fields do not hold stands in ``metadata.native``, by the message's own names. ``native_absent`` names
fields that the turn suggests and the message lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from agent.core.json_path import json_path
from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats.common_fields import refusal_of
from agent.formats.conversation.message import Call, Conversation, Ignored, Message, Result
from agent.formats.conversation.model_calls import ModelCall, lines_of
from agent.formats.conversation.recording import Recorded, recorded_calls
from agent.formats.openai_answer import Answer, answers_of
from agent.formats.openai_message import ROLES, MessageDraft, read_message
from agent.formats.tool_calls import ArgumentReader
from agent.formats.writing import Session, Written

# The Chat Completions reference, requests and answers, and what this reader takes beside it.
_MESSAGE_FIELDS: Final = frozenset(
    {"role", "content", "name", "refusal", "audio", "annotations", "tool_calls", "tool_call_id", "function_call"}
    | {"id", "timestamp"}
)


def detect(document: Any) -> bool:
    """Messages with roles of Chat Completions, alone, in ``messages``, in an answer, or in recorded calls."""
    calls = recorded_calls(document)
    if calls is not None:
        return any(_has_messages(call.request) or _is_answer(call.response) for call in calls)
    return _has_messages(document) or _is_answer(document) or _is_list(document)


def _has_messages(document: Any) -> bool:
    return isinstance(document, dict) and _is_list(document.get("messages"))


def _is_list(messages: Any) -> bool:
    if not isinstance(messages, list):
        return False
    objects = [message for message in messages if isinstance(message, dict)]
    return bool(objects) and all(isinstance(m.get("role"), str) and m["role"] in ROLES for m in objects)


def _is_answer(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("choices"), list) and "messages" not in document


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversations of ``document``: one in a list of messages, in recorded calls as many as they begin."""
    recorded = recorded_calls(document)
    if recorded is not None:
        yield from _recorded(recorded)
    elif _is_answer(document):
        yield from _recorded([Recorded(None, document, None, None)])
    else:
        yield _body(document)


def _body(document: Any) -> Conversation | ValidationError:
    messages, path = (document, "$") if isinstance(document, list) else (document.get("messages"), "$.messages")
    problems: list[Problem] = []
    drafts = _read_messages(messages, path, problems)
    if isinstance(document, dict) and "messages" not in document:
        problems = [Problem(path, "required")]
    if problems:
        return refusal_of(problems)
    return Conversation(_messages(drafts), warnings=_unknown_in_messages(messages, path))


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
    ignored = Ignored()
    problems: list[Problem] = []
    said: list[ModelCall] = []
    for number, call in enumerate(calls):
        path = "$" if len(calls) == 1 else f"$.interactions[{number}]"
        sent = call.request.get("messages") if isinstance(call.request, dict) else None
        answers = answers_of(call)
        if sent is None and not answers:
            ignored.add("calls of something else", path)
            continue
        inputs = [] if sent is None else _messages(_read_messages(sent, f"{path}.request.messages", problems))
        said += [ModelCall(inputs, [message]) for message in _answered(answers, path, problems)]
        if not answers:
            ignored.add("calls without an answer", f"{path}.response")
            said.append(ModelCall(inputs, ()))
    if problems:
        yield refusal_of(problems)
        return
    for number, line in enumerate(lines_of(said)):
        yield Conversation(line.messages, number=number, leaf=line.leaf, ignored=ignored if number == 0 else Ignored())


def _answered(answers: Sequence[Answer], path: str, problems: list[Problem]) -> Iterator[Message]:
    """The answers, the first one last: it is the one that the conversation went on from."""
    for answer in reversed(answers):
        draft = read_message(answer.message, f"{path}.response", ArgumentReader(), problems)
        if draft is not None:
            # The time is the answer's: a message that says it would have had it.
            yield _message(draft, 0)._replace(
                model=answer.model, usage=answer.usage, timestamp=answer.timestamp, derived=["timestamp"]
            )


def write(session: Session) -> Written:
    """The history of ``session`` as one list of messages."""
    from agent.formats.openai_chat_out import write as write_messages  # a capture only reads

    return write_messages(session)
