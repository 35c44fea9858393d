"""What a tool came back with, as the turns that say it: its result, and before it the call where nobody made one yet.

No provider takes a result whose call it did not see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agent.core.pairs import named_invocations, paired_calls
from agent.sdk.arguments import checked_name, checked_params, checked_text
from agent.sdk.json_value import json_copy
from agent.sdk.message import Message, ToolCall, ToolResult

if TYPE_CHECKING:
    from agent.core.turn import SessionTurn
    from agent.sdk.view import View


def tool_said(
    name: str,
    summary: str,
    *,
    arguments: Any,
    params: Mapping[str, Any] | None,
    result: Any,
    success: bool | None,
    invocation_id: str,
) -> tuple[Message, Message]:
    """The call of the tool ``name`` with ``arguments`` (None: without), and its result.

    The result has the ``summary`` as its text, and the rest of it as what the session knows from here on.
    """
    call = ToolCall(invocation_id, checked_name(name, "name"), json_copy(arguments, "$.arguments"))
    said: dict[str, Any] = {}
    if params:
        said["params"] = checked_params(params)
    if result is not None:
        said["last_result"] = json_copy(result, "$.result")
    answer = Message(
        "tool",
        checked_text(summary, "summary"),
        metadata={"memory": said} if said else None,
        tool_results=(ToolResult(call.invocation_id, call.tool_name, success),),
    )
    return Message("assistant", "", tool_calls=(call,)), answer


def answering(result: Message, invocation_id: str) -> Message:
    """``result`` as that of another call."""
    (named,) = result.tool_results
    return result._replace(tool_results=(named._replace(invocation_id=invocation_id),))


def open_call(view: View, conversation_id: str | None, call: ToolCall) -> str | None:
    """The id of the call that is made already and may be ``call``; None where none is open, which is not answered yet.

    Of the calls of this tool in the newest turns, the one with the same arguments, else the first. Only turns of
    ``conversation_id`` count where it is named: a merged history may have those of others in between.
    """
    newest = _newest(view.history, conversation_id)
    answered = {each.invocation_id for each in paired_calls(newest).values()}
    first: str | None = None
    for turn in view.whole([turn for turn in newest if turn.role != "tool"]):
        for _, invocation_id, entry in named_invocations(turn):
            if entry.get("tool_name") != call.tool_name or invocation_id in answered:
                continue
            if call.arguments is not None and entry.get("arguments") == call.arguments:
                return invocation_id
            first = first or invocation_id
    return first


def _newest(history: Sequence[SessionTurn], conversation_id: str | None) -> list[SessionTurn]:
    """The end of a history, in its order: the turns that call tools, and the results behind them.

    A call before any other message was given up: no provider takes a result that does not follow its call.
    """
    newest: list[SessionTurn] = []
    for turn in reversed(history):
        if conversation_id is not None and turn.conversation_id != conversation_id:
            continue
        is_result = turn.role == "tool"
        is_before_calls = is_result and bool(newest) and newest[-1].role != "tool"
        if is_before_calls or not (is_result or (turn.role == "assistant" and turn.invocations)):
            break
        newest.append(turn)
    newest.reverse()
    return newest
