"""The format ``langchain`` on its way out: the history as one list of messages, for ``messages_from_dict``.

A turn that came as a serialised message is that message again, in the form in which it came, as long as it still says
what the turn says. Any other becomes ``{type, data}``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from agent.core.ids import is_uuid
from agent.formats.content_parts import digests_in
from agent.formats.conversation.message import Call, Message, Result
from agent.formats.conversation.said import Said, SaidCall, SaidResult, document, joined, said
from agent.formats.langchain_message import made_fields, made_message, read_message, serialised
from agent.formats.tool_calls import UNKNOWN_TOOL, ArgumentReader, is_read_otherwise
from agent.formats.writing import Session, Written

NAME: Final = "langchain"


def write(session: Session) -> Written:
    """The history of ``session`` as one document."""
    turns, lost = said(session, NAME)
    turns = joined(turns, lost)
    messages: list[dict[str, Any]] = []
    for turn in turns:
        own = _given_back(turn)
        made = (
            [own]
            if own is not None
            else [made_message(made_fields(each), None, each.role) for each in _as_messages(turn)]
        )
        messages += made
        again = _read(made[0])
        lost["agents"] -= _agent(turn) is not None and again is not None and again.metadata == {"agent": _agent(turn)}
        lost["models"] -= turn.model is not None and again is not None and again.model == turn.model
        lost["token_usage"] -= turn.usage is not None and again is not None and again.usage == turn.usage
        lost["times"] += turn.timestamp is not None
        lost["several_results"] += len(made) > 1
        if own is None:
            are_objects = [call.arguments is ... or isinstance(call.arguments, dict) for call in turn.calls]
            lost["calls_without_arguments"] += sum(call.arguments is ... for call in turn.calls)
            lost["json_texts"] += sum(is_read_otherwise(call.arguments) for call in turn.calls)
            lost["call_order"] += are_objects != sorted(are_objects, reverse=True)
    lost["binaries"] += digests_in(messages)
    return document(session, {"messages": messages}, lost)


def _agent(turn: Said) -> str | None:
    return turn.turn.agent or None if turn.role == "assistant" else None


def _as_messages(turn: Said) -> Iterator[Message]:
    """What is to be said: a message for each result, each with the whole text."""
    agent = _agent(turn)
    calls = tuple(Call(call.name, call.id, call.arguments) for call in turn.calls)
    message = Message(
        turn.role,
        turn.content,
        "",
        model=turn.model if turn.role == "assistant" else None,
        usage=_usage(turn),
        calls=calls,
        metadata=None if agent is None else {"agent": agent},
    )
    if turn.role != "tool":
        yield message
        return
    for each in turn.results or (SaidResult(UNKNOWN_TOOL, turn.turn.turn_id, None, has_call=False),):
        yield message._replace(results=(Result(each.id, each.name, each.success),))


def _usage(turn: Said) -> dict[str, int] | None:
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    usage = turn.usage if turn.role == "assistant" else None
    return None if usage is None else {name: usage[name] for name in names}


def _given_back(turn: Said) -> dict[str, Any] | None:
    """The message that ``turn`` came as; None where it came otherwise, or says something else by now."""
    if turn.native is None or len(turn.results) > 1 or (turn.role == "tool" and not turn.results):
        return None
    around = turn.native.get("as")
    if around is not None and not isinstance(around, dict):
        return None
    (made,) = (made_fields(each) for each in _as_messages(turn))
    if around is not None and "data" not in around:
        del made["type"]
    fields = made | {name: value for name, value in turn.native.items() if name != "as"}
    fields = {name: value for name, value in fields.items() if name not in turn.absent}
    message = made_message(fields, around, turn.role)
    again = _read(message)
    return message if again is not None and _says(again, turn) else None


def _read(message: dict[str, Any]) -> Message | None:
    found = serialised(message)
    return None if found is None else read_message(found, "0", [], arguments=ArgumentReader())


def _says(read: Message, turn: Said) -> bool:
    return (
        (read.role, read.content, read.model) == (turn.role, turn.content, turn.model)
        and (read.usage or None) == (turn.usage or None)
        and len(read.calls) == len(turn.calls)
        and all(_calls_alike(found, call) for found, call in zip(read.calls, turn.calls, strict=True))
        and len(read.results) == len(turn.results)
        and all(_results_alike(found, result) for found, result in zip(read.results, turn.results, strict=True))
    )


def _calls_alike(read: Call, call: SaidCall) -> bool:
    # One without an id and a name gets its id from its place.
    has_its_id = read.native_id == call.id or (read.native_id is None and is_uuid(call.id))
    return has_its_id and (read.name, read.arguments) == (call.name, call.arguments)


def _results_alike(read: Result, result: SaidResult) -> bool:
    # One without a name gets it from its call.
    has_its_name = read.name == result.name or (read.name is None and (result.has_call or result.name == UNKNOWN_TOOL))
    return has_its_name and (read.native_id, read.success) == (result.id, result.success)
