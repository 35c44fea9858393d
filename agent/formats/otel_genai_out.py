"""The format ``otel-genai`` on its way out: the history as message attributes of the current GenAI conventions.

``{"session_id", "conversation_id"?, "gen_ai.system_instructions"?, "gen_ai.input.messages",
"gen_ai.output.messages"}``, structured as events hold them; a span's attribute is the same as JSON text. The
conventions want every output to say why it ended, and nothing is made up: a last answer of which that is not known
stands in the input, as history does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from agent.formats.content_parts import digests_in
from agent.formats.conversation.message import Call, Message, Result
from agent.formats.conversation.said import Said, SaidResult, document, said
from agent.formats.otel_genai_again import instructions_of, message_of
from agent.formats.otel_genai_calls import INPUT, INSTRUCTIONS, OUTPUT
from agent.formats.otel_genai_message import (
    GOES_ON,
    ROLES,
    parts_of,
)
from agent.formats.tool_calls import UNKNOWN_TOOL, is_read_otherwise
from agent.formats.writing import Session, Written

_ANSWERS: Final = frozenset(role for role, ours in ROLES.items() if ours == "assistant")


def write(session: Session) -> Written:
    """The history of ``session`` as one document."""
    turns, lost = said(session, "otel-genai")
    members: dict[str, Any] = {}
    if turns and _is_instructions(turns[0]):
        lost["times"] += turns[0].timestamp is not None
        members[INSTRUCTIONS] = instructions_of(_message(turns[0]))
        turns = turns[1:]
    messages = [message for run in _runs(turns) for message in _written(run, lost)]
    lost["binaries"] += digests_in([members, messages])
    ends = bool(messages) and messages[-1].get("role") in _ANSWERS and "finish_reason" in messages[-1]
    members[INPUT] = messages[:-1] if ends else messages
    members[OUTPUT] = messages[-1:] if ends else []
    return document(session, members, lost)


def _is_instructions(turn: Said) -> bool:
    """Whether the first turn stands beside the messages: where it did, or may as well have done."""
    return turn.role == "system" and not (turn.native or {}).get("is_message") and bool(turn.content)


def _runs(turns: Sequence[Said]) -> Iterator[Sequence[Said]]:
    """What came as one message each."""
    run: list[Said] = []
    for turn in turns:
        goes_on = (turn.native or {}).get("of") == GOES_ON["of"]
        if run and not goes_on:
            yield run
            run = []
        run.append(turn)
    if run:
        yield run


def _message(turn: Said) -> Message:
    return Message(
        turn.role,
        turn.content,
        "0",
        calls=[Call(call.name, call.id, call.arguments) for call in turn.calls],
        results=[Result(result.id, result.name) for result in turn.results],
        native=turn.native,
    )


def _written(run: Sequence[Said], lost: Counter[str]) -> list[dict[str, Any]]:
    came = message_of([_message(turn) for turn in run])
    for turn in run:
        lost["times"] += turn.timestamp is not None
        if came is None or not turn.native:
            lost["success"] += sum(result.success is not None for result in turn.results)
        lost["several_results"] += len(turn.results) > 1
        if came is None:
            lost["json_texts"] += sum(is_read_otherwise(call.arguments) for call in turn.calls)
            # The conventions' schema says null where there are none.
            lost["null_arguments"] += sum(call.arguments is None for call in turn.calls)
    return [_said(turn) for turn in run] if came is None or _is_nameless(run) else [came]


def _is_nameless(run: Sequence[Said]) -> bool:
    """Whether a result would lose its tool's name: a call tells it, and there is none."""
    return not any(turn.native for turn in run) and any(_own_name(each) for turn in run for each in turn.results)


def _own_name(result: SaidResult) -> str | None:
    return None if result.has_call or result.name == UNKNOWN_TOOL else result.name


def _said(turn: Said) -> dict[str, Any]:
    parts = parts_of(_message(turn))
    for part, result in zip(parts, turn.results, strict=False):
        name = _own_name(result)
        if name is not None:
            part["name"] = name
    return {"role": turn.role, "parts": parts}
