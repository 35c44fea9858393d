"""The messages that a history shows, made of its turns once and kept for as long as the history only grows.

Nothing here is a source: what is kept can be thrown away and made again. Thread-safe.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from agent.core.growing import Growing
from agent.core.ids import orphan_invocation_uuid
from agent.core.pairs import Call, Place, named_invocations, native_id, paired_calls
from agent.core.turn import SessionTurn
from agent.core.window.marker import is_marker, missing_at
from agent.formats.tool_calls import UNKNOWN_TOOL
from agent.sdk.json_value import read_only
from agent.sdk.message import Message, ToolCall, ToolResult, spelled_role
from agent.sdk.view import View

# A message of fields that are sound, without a look at each: a history may have very many.
_made = tuple.__new__


class ShownMessages:
    """The messages of one view, as they were shown last."""

    def __init__(self) -> None:
        self._turns: Sequence[SessionTurn] = ()
        self._messages: list[Message] = []
        self._lock = threading.Lock()

    def of(self, view: View, limit: int | None) -> list[Message]:
        """The newest ``limit`` messages of ``view`` (None: all), in a list that is the caller's."""
        first = 0 if limit is None else max(0, len(view.history) - limit)
        if view.is_light:
            # What is held without content, because it is so large, is not kept here either.
            return messages_of(view, view.history[first:])
        with self._lock:
            has_grown = _begins_with(view.history, self._turns)
            if first and not (has_grown and self._turns):
                return messages_of(view, view.history[first:])
            if not has_grown:
                self._messages = []
            new = view.history[len(self._messages) :]
            if new:
                self._messages += messages_of(view, new)
            self._turns = view.history
            return self._messages[first:]


def _begins_with(turns: Sequence[SessionTurn], others: Sequence[SessionTurn]) -> bool:
    """Whether ``turns`` begin with ``others``."""
    if isinstance(turns, Growing) and isinstance(others, Growing) and turns.extends(others):
        return True
    # Lists compare item by item, and what is the same object is equal at once: no look into any turn.
    return len(others) <= len(turns) and list(turns[: len(others)]) == list(others)


def messages_of(view: View, turns: Sequence[SessionTurn]) -> list[Message]:
    """The messages that ``turns`` of ``view`` are."""
    pairs: Mapping[Place, Call] = {}
    if any(_needs_call(view.session_id, turn) for turn in turns if turn.role == "tool"):
        pairs = paired_calls(view.state.turns)
    return [_message(view, turn, pairs) for turn in view.whole(turns)]


def window_messages(view: View, turns: Sequence[SessionTurn], cut: AbstractSet[str]) -> list[Message]:
    """The messages of a window of ``view``, markers among them; ``cut`` are the ids of those with less text.

    A marker, and a message that the window changed, are named by nobody: given to a session again they are new, and
    never a revision of what they stand for.
    """
    there = [turn for turn in turns if not is_marker(turn)]
    pairs: Mapping[Place, Call] = {}
    if any(_needs_call(view.session_id, turn) for turn in there if turn.role == "tool"):
        pairs = paired_calls(view.state.turns)
    return [_in_window(view, turn, pairs, is_cut=turn.turn_id in cut) for turn in turns]


def _in_window(view: View, turn: SessionTurn, pairs: Mapping[Place, Call], *, is_cut: bool) -> Message:
    if is_marker(turn):
        return Message("system", turn.content or "", metadata={"marker": missing_at(turn)})
    message = _message(view, turn, pairs)
    return (
        message._replace(turn_id=None, conversation_id=None, seq=None) if is_cut or _lost_calls(view, turn) else message
    )


def _lost_calls(view: View, turn: SessionTurn) -> bool:
    """Whether calls are not in the window that the turn makes."""
    there = view.state.turns.find(turn.turn_id)
    return there is not turn and there is not None and bool(there.invocations) and not turn.invocations


def _message(view: View, turn: SessionTurn, pairs: Mapping[Place, Call]) -> Message:
    fields = turn.fields
    metadata: Any = fields.get("metadata")
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    if turn.erased:
        metadata = {"erased": True}
    elif "tool_invocations" in fields:
        if turn.role == "tool":
            results = tuple(_results(view, turn, pairs))
        else:
            calls = tuple(_call(invocation_id, entry) for _, invocation_id, entry in named_invocations(turn))
    metadata = read_only(metadata if isinstance(metadata, dict) else {})
    agent = metadata.get("agent") if metadata else None
    model, used = fields.get("model"), fields.get("token_usage")
    return _made(
        Message,
        (
            spelled_role(turn.role),
            turn.content or "",
            turn.timestamp,
            metadata,
            agent if isinstance(agent, str) else None,
            calls,
            results,
            model if isinstance(model, str) else None,
            read_only(used) if isinstance(used, dict) else None,
            turn.turn_id,
            turn.conversation_id,
            None if turn.turn_id in view.pending else turn.seq,
            turn.erased,
        ),
    )


def _call(invocation_id: str, entry: Mapping[str, Any]) -> ToolCall:
    return ToolCall(
        invocation_id, _tool_name(entry), read_only(entry.get("arguments")), _success(entry), native_id(entry)
    )


def _results(view: View, turn: SessionTurn, pairs: Mapping[Place, Call]) -> list[ToolResult]:
    found = []
    for place, own_id, entry in named_invocations(turn):
        call = pairs.get(place)
        name = _tool_name(entry)
        if call is not None and name == UNKNOWN_TOOL:
            name = _called(view, call.place)
        invocation_id = own_id if call is None else call.invocation_id
        found.append(ToolResult(invocation_id, name, _success(entry), native_id(entry)))
    return found


def _called(view: View, place: Place) -> str:
    """The name of the tool that is called at ``place``."""
    turn = view.state.turns.find(place.turn_id)
    return UNKNOWN_TOOL if turn is None else _tool_name(turn.invocations[place.number])


def _needs_call(session_id: str, turn: SessionTurn) -> bool:
    """Whether a result on ``turn`` is told by its call alone, because that was not in its capture (CONTRACT 3).

    Then it goes by an id of its own, or nobody knew the tool's name.
    """
    for _, own_id, entry in named_invocations(turn):
        native = native_id(entry)
        if _tool_name(entry) == UNKNOWN_TOOL or (native and own_id == orphan_invocation_uuid(session_id, native)):
            return True
    return False


def _tool_name(entry: Mapping[str, Any]) -> str:
    name = entry.get("tool_name")
    return name if isinstance(name, str) and name else UNKNOWN_TOOL


def _success(entry: Mapping[str, Any]) -> bool | None:
    success = entry.get("success")
    return success if isinstance(success, bool) else None
