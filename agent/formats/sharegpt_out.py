"""The format ``sharegpt`` on its way out: ``{"session_id", "conversation_id"?, "conversations": [{from, value}]}``.

A turn that came as such a message is that message again, with every member that it had, as long as it says what the
turn says. Any other is ``human``, ``gpt``, ``system`` or ``observation``; calls are a ``function_call``, with what was
said beside them in ``text``. An id of a call stands in its JSON where it is another than the name, and in
``tool_call_id`` of a result that the order alone would give to another call.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from typing import Any, Final

from agent.core.canonical import canonical
from agent.core.pairs import native_id
from agent.formats.conversation.message import Call
from agent.formats.conversation.said import Said, SaidResult, document, said
from agent.formats.sharegpt import BESIDE, SYSTEM, read_message, said_as
from agent.formats.tool_calls import UNKNOWN_TOOL, ArgumentReader
from agent.formats.writing import Session, Written

_FORM: Final = "sharegpt"
# What the writer says itself.
_OURS: Final = frozenset({"session_id", "conversation_id", "conversations", SYSTEM})


def write(session: Session) -> Written:
    """The history of ``session`` as one document."""
    turns, lost = said(session, _FORM)
    beside = _beside(session)
    conversation = _Conversation(lost)
    for turn in turns:
        conversation.add(turn)
        # The line names the model of all.
        lost["models"] -= turn.role == "assistant" and turn.turn.fields.get("model", ...) == beside.get("model")
    members = {**beside, **conversation.beside, "conversations": conversation.messages}
    return document(session, members, lost)


def _beside(session: Session) -> dict[str, Any]:
    """The members that stood beside the list, of the last capture that had them."""
    shown = {turn.conversation_id for turn in session.shown}
    found: dict[str, Any] = {}
    for capture in session.captures.values():
        native = capture.fields.get("native")
        beside = native.get("beside") if isinstance(native, dict) else None
        if capture.format == _FORM and capture.conversation_id in shown and isinstance(beside, dict):
            found |= beside
    return {name: value for name, value in found.items() if name not in _OURS}


class _Conversation:
    """The list while it grows; ``waiting`` are the ids of the calls that the next results answer, as they are read."""

    def __init__(self, lost: Counter[str]) -> None:
        self.messages: list[dict[str, Any]] = []
        self.beside: dict[str, Any] = {}
        self._waiting: deque[str] = deque()
        self._names: dict[str, str] = {}
        self._lost = lost

    def add(self, turn: Said) -> None:
        """Append what says ``turn``."""
        is_beside = turn.role == "system" and tuple(turn.absent) == BESIDE
        if is_beside and turn.content and not self.messages and not self.beside:
            self._lost["times"] += turn.timestamp is not None
            self.beside[SYSTEM] = turn.content
            return
        calls = tuple(Call(call.name, call.id, call.arguments) for call in turn.calls)
        message = said_as(turn.role, turn.content, calls, turn.timestamp)
        if turn.role == "tool":
            self._results(turn, message)
            return
        self._waiting.extend(call.id for call in turn.calls)
        self._names |= {call.id: call.name for call in turn.calls}
        self.messages.append(self._as_it_came(turn, message))

    def _as_it_came(self, turn: Said, message: dict[str, Any]) -> dict[str, Any]:
        """``message`` with what its turn kept, where that still says the same."""
        if turn.native is None:
            return message
        came = {name: value for name, value in {**message, **turn.native}.items() if name not in turn.absent}
        return came if _says(came, message) else message

    def _results(self, turn: Said, message: dict[str, Any]) -> None:
        """A message for each call that is answered, each with the whole text."""
        self._lost["several_results"] += len(turn.results) > 1
        self._lost["success"] += sum(result.success is not None for result in turn.results)
        for result in turn.results:
            self.messages.append(self._result(turn, message, result))
        if not turn.results:
            came = self._as_it_came(turn, message)
            # It names no call: none that waits may be taken for it.
            self.messages.append({**came, "tool_call_id": turn.turn.turn_id} if self._waiting else came)

    def _result(self, turn: Said, message: dict[str, Any], result: SaidResult) -> dict[str, Any]:
        came = self._as_it_came(turn, message)
        name = self._names.get(result.id) if result.has_call else UNKNOWN_TOOL
        if result.name not in (name, came.get("name")):
            came = {**came, "name": result.name}
        answered = _answer(came, self._waiting)
        # A result of nobody's call that came from here without an id has none: ours is only its place.
        is_named = turn.native is None or result.id in map(native_id, turn.turn.invocations)
        has_id = result.has_call or answered is not None or is_named
        if has_id and answered != result.id:
            came = {**came, "tool_call_id": result.id}
            answered = result.id
        if answered is not None and answered in self._waiting:
            self._waiting.remove(answered)
        return came


def _answer(message: Mapping[str, Any], waiting: deque[str]) -> str | None:
    """The call that ``message`` is read to answer."""
    for member in ("tool_call_id", "name"):
        named = message.get(member)
        if isinstance(named, str) and named:
            return named
    return waiting[0] if waiting else None


def _says(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether both messages are read as the same: role, text, calls, time."""
    first, second = _read(one), _read(other)
    return first is not None and first == second


def _read(message: Mapping[str, Any]) -> bytes | None:
    found = read_message(dict(message), "0", "$", ArgumentReader(), [])
    if found is None:
        return None
    calls = [[call.name, call.native_id, *([] if call.arguments is ... else [call.arguments])] for call in found.calls]
    return canonical([found.role, found.content, found.timestamp, calls])
