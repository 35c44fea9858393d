"""The format ``openinference`` on its way out: the history as the attributes of one call, flattened.

``{"session_id", "conversation_id"?, "llm.input_messages.0.message.role", ...}``; an answer that is the last of the
history stands in ``llm.output_messages``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from agent.formats.content_parts import digests_in
from agent.formats.conversation.message import Call, Message, Result
from agent.formats.conversation.said import Said, document, said
from agent.formats.openinference_calls import INPUT, OUTPUT
from agent.formats.openinference_message import flat_as_it_came, flat_of
from agent.formats.tool_calls import UNKNOWN_TOOL, is_read_otherwise
from agent.formats.writing import Session, Written


def write(session: Session) -> Written:
    """The history of ``session`` as one document."""
    turns, lost = said(session, "openinference")
    messages = [message for turn in turns for message in _messages(turn, lost)]
    lost["binaries"] += digests_in(messages)
    ends = bool(turns) and turns[-1].role == "assistant"
    members: dict[str, Any] = {}
    for name, some in ((INPUT, messages[:-1] if ends else messages), (OUTPUT, messages[-1:] if ends else [])):
        for place, message in enumerate(some):
            members |= {f"{name}.{place}.message.{key}": value for key, value in message.items()}
    return document(session, members, lost)


def _messages(turn: Said, lost: Counter[str]) -> Iterator[dict[str, Any]]:
    lost["times"] += turn.timestamp is not None
    lost["several_results"] += len(turn.results) > 1
    results = [Result(result.id, result.name) for result in turn.results]
    message = Message(
        turn.role,
        turn.content,
        "0",
        calls=[Call(call.name, call.id, call.arguments) for call in turn.calls],
        results=results,
        native=turn.native,
        absent=turn.absent,
    )
    came = flat_as_it_came(message) if len(results) < 2 else None
    if came is not None and (turn.native or turn.absent):
        yield came
        return
    lost["success"] += sum(result.success is not None for result in turn.results)
    lost["json_texts"] += sum(is_read_otherwise(call.arguments) for call in turn.calls)
    for number, result in enumerate(results or [None]):
        flat = flat_of(message._replace(results=[] if result is None else [result]))
        if result is not None and not turn.results[number].has_call and result.name not in (None, UNKNOWN_TOOL):
            # No call says what the tool is called.
            flat["name"] = result.name
        yield flat
