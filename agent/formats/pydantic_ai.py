"""The format ``pydantic-ai``: a message history as ``ModelMessagesTypeAdapter`` writes it.

A list of requests and responses, alone, or in ``messages`` or ``records``. Refuses messages of other kinds, and wrong
types where a turn depends on them, each by its path. Parts of kinds that nobody knows yet are kept as they are.
Source: "Messages and chat history" of pydantic-ai's documentation, ``pydantic_ai.messages``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats.common_fields import POSTED, as_id, refusal_of
from agent.formats.conversation.message import Conversation, Message
from agent.formats.pydantic_ai_message import KINDS, read_message
from agent.formats.tool_calls import ArgumentReader
from agent.formats.writing import Session, Written

_LISTS: Final = ("messages", "records")
_OF_THE_BODY: Final = POSTED | {"model"}


def detect(document: Any) -> bool:
    """Messages that say of themselves that they are requests or responses, made of parts."""
    messages, _ = _list(document)
    if not isinstance(messages, list):
        return False
    objects = [message for message in messages if isinstance(message, dict)]
    return bool(objects) and all(_is_message(message) for message in objects)


def _is_message(message: dict[str, Any]) -> bool:
    parts = message.get("parts")
    return message.get("kind") in KINDS and isinstance(parts, list) and all(map(_has_kind, parts))


def _has_kind(part: Any) -> bool:
    return not isinstance(part, dict) or "part_kind" in part


def _list(document: Any) -> tuple[Any, str]:
    if not isinstance(document, dict):
        return document, "$"
    name = next((name for name in _LISTS if name in document), _LISTS[0])
    return document.get(name, ...), f"$.{name}"


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The one conversation of ``document``."""
    messages, path = _list(document)
    if not isinstance(messages, list):
        yield refusal_of([Problem(path, "required" if messages is ... else "type")])
        return
    problems: list[Problem] = [] if messages else [Problem(path, "minItems")]
    turns: list[Message] = []
    in_force: str | None = None
    arguments = ArgumentReader()
    for index, message in enumerate(messages):
        found = read_message(message, index, f"{path}[{index}]", problems, in_force=in_force, arguments=arguments)
        if found is not None:
            turns += found.turns
            in_force = found.instructions
        if len(problems) >= MAX_PROBLEMS:
            break
    if problems:
        yield refusal_of(problems)
        return
    body = document if isinstance(document, dict) else {}
    beside = {name: value for name, value in body.items() if name not in _OF_THE_BODY and path != f"$.{name}"}
    yield Conversation(turns, conversation_id=_conversation_id(messages[0]), native=beside)


def _conversation_id(message: dict[str, Any]) -> str | None:
    """The conversation that the first message names: it stays as the list grows."""
    named = message.get("conversation_id")
    return as_id(named)


def write(session: Session) -> Written:
    """The history of ``session`` as one list of messages."""
    from agent.formats.pydantic_ai_out import write as write_messages  # a capture only reads

    return write_messages(session)
