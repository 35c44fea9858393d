"""The format ``sharegpt``: ``{id?, conversations: [{from, value}]}``, as data sets for training hold conversations.

There is no reference; the names of roles and the JSON of calls are those that LLaMA-Factory and FastChat read. Every
message is one turn, named by its place; equal messages of several conversations are turns of each. A call stands as
``{"name", "arguments"}`` in the ``value`` of a ``function_call``, a result goes to the nearest open call. Instructions
in ``system`` beside the list are a turn before it. Refuses, with every path that is wrong: ``conversations`` that is no
list, messages that are no objects, unknown roles and values of the wrong type.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats.common_fields import MAX_ID_CHARACTERS, POSTED, refusal_of
from agent.formats.content_parts import content_text, without_binaries
from agent.formats.conversation.message import Call, Conversation, Message, Result
from agent.formats.conversation.times import stated
from agent.formats.tool_calls import ArgumentReader, arguments_text
from agent.formats.writing import Session, Written

ROLES: Final = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
    "observation": "tool",
    "tool_response": "tool",
    "function_response": "tool",
    "function_call": "assistant",
}
# What the writer says for each of our roles.
NAMES: Final = {"user": "human", "assistant": "gpt", "system": "system", "tool": "observation"}
CALLS: Final = "function_call"
BESIDE: Final = ("from", "value")
SYSTEM: Final = "system"
_NOT_BESIDE: Final = POSTED | {"conversations"}
_OF_A_CALL: Final = frozenset({"name", "arguments", "id"})


def detect(document: Any) -> bool:
    """Messages with ``from`` and ``value``, alone or in ``conversations``."""
    messages = _list(document)
    if not isinstance(messages, list):
        return False
    if not messages:
        return isinstance(document, dict)
    return all(isinstance(each, dict) and isinstance(each.get("from"), str) and "value" in each for each in messages)


def _list(document: Any) -> Any:
    return document.get("conversations") if isinstance(document, dict) else document


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversation of ``document``."""
    sent = _list(document)
    path = "$.conversations" if isinstance(document, dict) else "$"
    if not isinstance(sent, list):
        yield refusal_of([Problem(path, "required" if sent is None else "type")])
        return
    problems: list[Problem] = []
    beside: Mapping[str, Any] = document if isinstance(document, dict) else {}
    messages = [*_instructions(beside), *_messages(sent, path, beside.get("model"), problems)]
    if problems:
        yield refusal_of(problems)
        return
    own_id = beside.get("id")
    yield Conversation(
        messages,
        # Many data sets number their conversations: an id says which one it is in its file, and no more.
        conversation_id=own_id if isinstance(own_id, str) and 0 < len(own_id) <= MAX_ID_CHARACTERS else None,
        native={
            name: value
            for name, value in beside.items()
            if name not in _NOT_BESIDE and not (name == SYSTEM and isinstance(value, str))
        },
    )


def _instructions(beside: Mapping[str, Any]) -> Iterator[Message]:
    text = beside.get(SYSTEM)
    if isinstance(text, str) and text:
        # What every message of the list has and this one has not.
        yield Message("system", text, SYSTEM, absent=BESIDE)


def _messages(sent: Sequence[Any], path: str, model: Any, problems: list[Problem]) -> Iterator[Message]:
    reader = ArgumentReader()
    waiting: deque[str] = deque()
    model = model if isinstance(model, str) and model else None
    for index, message in enumerate(sent):
        read_one = read_message(message, str(index), f"{path}[{index}]", reader, problems)
        if len(problems) >= MAX_PROBLEMS:
            return
        if read_one is None:
            continue
        if read_one.role == "assistant" and model is not None:
            read_one = read_one._replace(model=model, derived=["model"])
        waiting.extend(call.native_id for call in read_one.calls if call.native_id is not None)
        yield _paired(read_one, waiting)


def _paired(message: Message, waiting: deque[str]) -> Message:
    """``message`` with the call that it answers: the one that it names, else the first that is open."""
    if message.role != "tool":
        return message
    result = message.results[0]
    named = result.native_id or result.name
    if named is not None and named in waiting:
        waiting.remove(named)
    elif named is None and waiting:
        named = waiting.popleft()
    return message._replace(results=(result._replace(native_id=named),))


def read_message(
    message: Any, place: str, path: str, reader: ArgumentReader, problems: list[Problem]
) -> Message | None:
    """The message at ``path``; None where it is refused, with its problems in ``problems``."""
    if not isinstance(message, dict):
        problems.append(Problem(path, "type"))
        return None
    found = len(problems)
    sent = message.get("from")
    if not isinstance(sent, str) or sent not in ROLES:
        rule = "required" if "from" not in message else "enum" if isinstance(sent, str) else "type"
        problems.append(Problem(f"{path}.from", rule))
    value = message.get("value")
    text = content_text(value, f"{path}.value", problems)
    if len(problems) > found or not isinstance(sent, str):
        return None
    role = ROLES[sent]
    calls = _calls(text, reader) if sent == CALLS else ()
    beside = message.get("text")
    content = (beside if isinstance(beside, str) else "") if calls else text
    results: tuple[Result, ...] = ()
    if role == "tool":
        results = (Result(_named(message, "tool_call_id"), _named(message, "name")),)
    timestamp = stated(message.get("timestamp"))
    written = said_as(role, content, calls, timestamp)
    native = {
        name: without_binaries("content" if name == "value" else name, each)
        for name, each in message.items()
        if name not in written or each != written[name]
    }
    absent = [name for name in written if name not in message]
    return Message(
        role,
        content,
        place,
        timestamp=timestamp,
        calls=calls,
        results=results,
        native=native or None,
        absent=absent,
    )


def said_as(role: str, content: str, calls: Sequence[Call], timestamp: str | None) -> dict[str, Any]:
    """The message that says no more than this."""
    if calls:
        message = {"from": CALLS, "value": calls_text(calls)}
        if content:
            message["text"] = content
    else:
        message = {"from": NAMES[role], "value": content}
    if timestamp is not None:
        message["timestamp"] = timestamp
    return message


def calls_text(calls: Sequence[Call]) -> str:
    """``value`` of ``calls``: an object for one, a list for several; an id where it is another than the name."""
    said = []
    for call in calls:
        each: dict[str, Any] = {"name": call.name}
        if call.arguments is not ...:
            each["arguments"] = call.arguments
        if call.native_id not in (None, call.name):
            each["id"] = call.native_id
        said.append(each)
    return arguments_text(said[0] if len(said) == 1 else said)


def _calls(text: str, reader: ArgumentReader) -> tuple[Call, ...]:
    """The calls that ``text`` is as JSON; none where it is anything else, and then it is what was said."""
    value = reader.read(text) if text.lstrip().startswith(("{", "[")) else None
    listed: list[Any] = value if isinstance(value, list) else [value]
    if not listed or not all(_is_call(each) for each in listed):
        return ()
    return tuple(Call(each["name"], _named(each, "id") or each["name"], each.get("arguments", ...)) for each in listed)


def _is_call(value: Any) -> bool:
    return isinstance(value, dict) and _named(value, "name") is not None and value.keys() <= _OF_A_CALL


def _named(value: Mapping[str, Any], member: str) -> str | None:
    found = value.get(member)
    return found if isinstance(found, str) and found else None


def write(session: Session) -> Written:
    """The history of ``session`` as one conversation."""
    from agent.formats.sharegpt_out import write as write_conversation  # a capture only reads

    return write_conversation(session)
