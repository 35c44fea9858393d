"""Native ids become UUIDs (CONTRACT 3), and the native strings stay beside them.

Whoever posts ``capture_options.derive_ids``, and every foreign format, may name things as it likes. Providers reuse
call ids within one conversation, so a call is named by its place, and a result is paired with its call by
``OpenCalls``. Checks nothing: the payload has passed the schema, and the names ``native_*`` were refused before.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Generic, TypeVar

from agent.core.ids import (
    called_invocation_uuid,
    conversation_uuid,
    is_uuid,
    orphan_invocation_uuid,
    session_uuid,
    turn_uuid,
)

T = TypeVar("T")


class OpenCalls(Generic[T]):
    """Which call a result answers, where call ids may come again (CONTRACT 3, last row of the table).

    Calls and results are reported in the order of the conversation, each call with a value of the user's choice.
    Every operation takes constant time on average, however often one id comes.
    """

    def __init__(self) -> None:
        # Per native id: its turns that still wait for a result, oldest first, each with its open calls in order.
        self._open: dict[str, list[tuple[int, deque[T]]]] = {}
        self._latest: dict[str, T] = {}

    def call(self, native: str, *, turn: int, value: T) -> None:
        """Note a call ``native`` on the turn at place ``turn``; places never decrease."""
        self._latest[native] = value
        waiting = self._open.setdefault(native, [])
        if waiting and waiting[-1][0] == turn:
            waiting[-1][1].append(value)
        else:
            waiting.append((turn, deque([value])))

    def answer(self, native: str) -> T | None:
        """The value of the call that the next result ``native`` answers; None where no earlier call has that id.

        It is the first open call of the nearest turn that has one. Where all are answered, the nearest call.
        """
        waiting = self._open.get(native)
        if not waiting:
            return self._latest.get(native)
        calls = waiting[-1][1]
        value = calls.popleft()
        if not calls:
            waiting.pop()
        return value


def derive_ids(payload: dict[str, Any]) -> dict[str, Any]:
    """Return ``payload`` with a UUID for every id that is none (CONTRACT 3).

    Each native string stays beside its UUID: ``native_session_id`` and ``native_conversation_id`` at the top,
    ``native_id`` and ``native_parent_turn_id`` on turns, ``native_id`` on invocations. Ids that are UUIDs stay as
    sent. The argument is not changed; what needs no change is shared with it.
    """
    session = session_uuid(payload["session_id"])
    derived = dict(payload)
    if not is_uuid(payload["session_id"]):
        derived["session_id"] = session
        derived["native_session_id"] = payload["session_id"]
    if not is_uuid(payload["conversation_id"]):
        derived["conversation_id"] = conversation_uuid(payload["conversation_id"])
        derived["native_conversation_id"] = payload["conversation_id"]
    calls: OpenCalls[str] = OpenCalls()
    derived["turns"] = [_turn(turn, index, session, calls) for index, turn in enumerate(payload["turns"])]
    return derived


def _turn(turn: dict[str, Any], index: int, session: str, calls: OpenCalls[str]) -> dict[str, Any]:
    derived = dict(turn)
    native = turn["turn_id"]
    own = turn_uuid(session, native)
    if not is_uuid(native):
        derived["turn_id"] = own
        derived["native_id"] = native
    parent = turn.get("parent_turn_id")
    if parent is not None and not is_uuid(parent):
        derived["parent_turn_id"] = turn_uuid(session, parent)
        derived["native_parent_turn_id"] = parent
    invocations = turn.get("tool_invocations")
    if invocations and turn["role"] == "tool":
        derived["tool_invocations"] = [_answered(invocation, session, calls) for invocation in invocations]
    elif invocations:
        derived["tool_invocations"] = [
            _called(invocation, own, place, index, calls) for place, invocation in enumerate(invocations)
        ]
    return derived


def _called(invocation: dict[str, Any], own: str, place: int, index: int, calls: OpenCalls[str]) -> dict[str, Any]:
    native = invocation["invocation_id"]
    if is_uuid(native):
        return invocation
    uuid = called_invocation_uuid(own, place)
    calls.call(native, turn=index, value=uuid)
    return {**invocation, "invocation_id": uuid, "native_id": native}


def _answered(invocation: dict[str, Any], session: str, calls: OpenCalls[str]) -> dict[str, Any]:
    native = invocation["invocation_id"]
    if is_uuid(native):
        return invocation
    uuid = calls.answer(native) or orphan_invocation_uuid(session, native)
    return {**invocation, "invocation_id": uuid, "native_id": native}
