"""The format ``langchain``: serialised messages, states of LangGraph, and the events of its streams.

A list of messages, alone, in ``messages``, or in the ``values`` of a thread's state; a list of events, alone or under
any name: several named streams are several conversations. Refuses messages of other kinds and wrong types where a turn
depends on them, each by its path. In streams, what is no event is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats.common_fields import POSTED, refusal_of
from agent.formats.conversation.message import Conversation, Ignored, Message
from agent.formats.langchain_message import Serialised, not_a_message, read_message, serialised
from agent.formats.langchain_stream import is_stream, read_stream
from agent.formats.tool_calls import ArgumentReader
from agent.formats.writing import Session, Written

_OF_THE_BODY: Final = POSTED | {"model"}


def detect(document: Any) -> bool:
    """Serialised messages, or events that hold some."""
    messages, _ = _list(document)
    return _are_messages(messages) or is_stream(document) or any(True for _ in _streams(document))


def _are_messages(messages: Any) -> bool:
    if not isinstance(messages, list):
        return False
    found = [serialised(message) for message in messages if isinstance(message, dict)]
    known = [message for message in found if message is not None]
    return bool(known) and len(known) == len(found) and any(map(_is_telling, known))


def _is_telling(message: Serialised) -> bool:
    """Whether no other format has such a message: others too have lists of ``{type: "system", content}``."""
    if "kwargs" in message.around or "data" in message.around:
        return "content" in message.fields
    fields = {"additional_kwargs", "response_metadata", "tool_call_id"}
    return message.kind in {"human", "ai"} or not fields.isdisjoint(message.fields)


def _list(document: Any) -> tuple[Any, str]:
    """The list of messages, where it stands in ``document``."""
    if not isinstance(document, dict):
        return document, "$"
    values = document.get("values")
    if "messages" not in document and isinstance(values, dict) and "messages" in values:
        return values["messages"], "$.values.messages"
    return document.get("messages", ...), "$.messages"


def _streams(document: Any) -> Iterator[tuple[str, list[Any]]]:
    if isinstance(document, dict):
        yield from ((name, value) for name, value in document.items() if is_stream(value))


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversations of ``document``: one, or as many as it has streams with names."""
    if is_stream(document):
        yield _stream(document, "$", 0, Ignored())
        return
    named = list(_streams(document))
    if not named:
        yield _messages(document)
        return
    ignored = Ignored()
    for name in document:
        if name not in _OF_THE_BODY and name not in dict(named):
            ignored.add("members beside the streams", "$")
    for number, (name, events) in enumerate(named):
        yield _stream(events, f"$.{name}", number, ignored if number == 0 else Ignored())


def _stream(events: list[Any], path: str, number: int, ignored: Ignored) -> Conversation | ValidationError:
    problems: list[Problem] = []
    messages = read_stream(events, path, ignored, problems)
    return refusal_of(problems) if problems else Conversation(messages, number=number, ignored=ignored)


def _messages(document: Any) -> Conversation | ValidationError:
    messages, path = _list(document)
    if not isinstance(messages, list):
        return refusal_of([Problem(path, "required" if messages is ... else "type")])
    problems: list[Problem] = [] if messages else [Problem(path, "minItems")]
    ignored = Ignored()
    turns: list[Message] = []
    arguments = ArgumentReader()
    for index, message in enumerate(messages):
        at = f"{path}[{index}]"
        found = serialised(message, at)
        if found is None:
            problems.append(not_a_message(message, at))
        elif found.kind == "remove":
            ignored.add("removals", at)
        else:
            turn = read_message(found, str(index), problems, arguments=arguments)
            turns += [] if turn is None else [turn]
        if len(problems) >= MAX_PROBLEMS:
            break
    if problems:
        return refusal_of(problems)
    state = document if isinstance(document, dict) else {}
    beside = {name: value for name, value in state.items() if name not in {*_OF_THE_BODY, "messages"}}
    if path == "$.values.messages":
        # What a checkpoint says of its run, and state that is no conversation.
        beside = {}
        ignored.add("state", "$")
    return Conversation(turns, native=beside, ignored=ignored)


def write(session: Session) -> Written:
    """The history of ``session`` as one list of messages."""
    from agent.formats.langchain_out import write as write_messages  # a capture only reads

    return write_messages(session)
