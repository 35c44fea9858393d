"""From a conversation to native payloads: ids, times and pairs as CONTRACT 3 has them, for every foreign format.

A turn goes by its native id, or by its place in the conversation. Whatever is derived is named in ``metadata.derived``.
A conversation that is larger than a capture may be becomes several payloads, in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import Any, NamedTuple

from agent.core.canonical import encode
from agent.core.graph import MAX_TURNS_AND_INVOCATIONS
from agent.core.ids import (
    called_invocation_uuid,
    conversation_of_session,
    conversation_uuid,
    is_uuid,
    session_uuid,
    turn_uuid,
)
from agent.core.native import OpenCalls, derive_ids
from agent.formats.common_fields import as_id
from agent.formats.conversation.message import Conversation, Message
from agent.formats.end_user import beside
from agent.formats.tool_calls import UNKNOWN_TOOL


class Scope(NamedTuple):
    """What is the same for all messages of a list.

    ``session_id`` and ``conversation_id`` are native strings or UUIDs, the latter None where there is none.
    ``captured_at`` is the time of messages before which nothing has one. ``request_id`` names a list that is only what
    is new (``delta``). ``before`` is the place that the list goes on from: None where it begins the conversation,
    Ellipsis where nobody knows.
    """

    session_id: str
    conversation_id: str | None
    captured_at: str
    request_id: str | None = None
    before: str | EllipsisType | None = None
    model: str | None = None
    number: int = 0

    @property
    def session(self) -> str:
        """The session's UUID."""
        return session_uuid(self.session_id)

    @property
    def conversation(self) -> str:
        """The conversation's id, as it came or derived from the session (CONTRACT 3)."""
        if self.conversation_id is not None:
            return self.conversation_id
        # The contract names one conversation of a session that names none; the others are told apart by their number.
        return conversation_of_session(f"{self.session}#{self.number}" if self.number else self.session)

    @property
    def prefix(self) -> str:
        """What the names of places begin with (CONTRACT 3, 3a)."""
        prefix = conversation_uuid(self.conversation)
        return prefix if self.request_id is None else f"{prefix}:{self.request_id}"


def payloads(
    messages: Sequence[Message], conversation: Conversation, scope: Scope, form: str, *, piece_bytes: int | None = None
) -> Iterator[dict[str, Any]]:
    """The captures of ``messages``, one or several where one cannot hold them.

    They are those of ``conversation``, at their places in the whole of it; ``form`` is the format they came in.
    ``piece_bytes``: the turns of a capture, as JSON, are at most so many bytes, but for a single one that is larger.
    """
    turns = _Turns(messages, conversation, scope).turns()
    kept = beside(form, conversation.native, conversation.context)
    native = {"format": form, **({"beside": kept} if kept else {})}
    for some in _pieces(turns, piece_bytes):
        payload: dict[str, Any] = {"session_id": scope.session_id, "conversation_id": scope.conversation, "turns": some}
        if conversation.context:
            payload["context"] = dict(conversation.context)
        payload["native"] = native
        yield derive_ids(payload)


def _pieces(turns: list[dict[str, Any]], piece_bytes: int | None) -> Iterator[list[dict[str, Any]]]:
    piece: list[dict[str, Any]] = []
    entries = size = 0
    for turn in turns:
        more = 1 + len(turn.get("tool_invocations", ()))
        weight = 0 if piece_bytes is None else len(encode(turn))
        is_heavy = piece_bytes is not None and size + weight > piece_bytes
        if piece and (entries + more > MAX_TURNS_AND_INVOCATIONS or is_heavy):
            yield piece
            # Across captures nobody knows which turn came before: it has to be said.
            turn.setdefault("parent_turn_id", piece[-1]["turn_id"])
            piece, entries, size = [], 0, 0
        piece.append(turn)
        entries += more
        size += weight
    yield piece


class _Turns:
    """The turns of one conversation, while the ids that are taken, the times and the open calls are known."""

    def __init__(self, messages: Sequence[Message], conversation: Conversation, scope: Scope) -> None:
        self._messages = messages
        self._leaf = conversation.leaf
        self._scope = scope
        self._latest = conversation.timestamp or scope.captured_at
        self._tools: OpenCalls[str] = OpenCalls()
        # What a message is called by its format, and the id that its turn got.
        self._names: dict[str, str] = {}
        self._taken = {scope.session}

    def turns(self) -> list[dict[str, Any]]:
        turns: list[dict[str, Any]] = []
        for index, message in enumerate(self._messages):
            turns.append(self._turn(message, index, turns))
        if self._leaf is not None and len(_leaves(turns)) > 1 and self._leaf in self._names:
            turns.append(self._leaf_carrier(self._names[self._leaf], len(turns)))
        return turns

    def _turn(self, message: Message, index: int, before: Sequence[dict[str, Any]]) -> dict[str, Any]:
        turn_id = self._name(message)
        self._latest = message.timestamp or self._latest
        turn: dict[str, Any] = {
            "turn_id": turn_id,
            "role": message.role,
            "content": message.content,
            "timestamp": self._latest,
        }
        parent = self._parent(message, before)
        if parent is not ...:
            turn["parent_turn_id"] = parent
        derived = [*message.derived]
        if message.timestamp is None:
            derived.insert(0, "timestamp")
        model = message.model
        if model is None and message.role == "assistant" and self._scope.model is not None:
            model = self._scope.model
            derived.append("model")
        if model is not None:
            turn["model"] = model
        if message.usage is not None:
            turn["token_usage"] = dict(message.usage)
        if message.results:
            turn["tool_invocations"] = [self._answered(message, place) for place in range(len(message.results))]
            # Which call it answers, and that one's name, depend on where the list begins.
            derived.append("tool_invocations")
        elif message.calls:
            turn["tool_invocations"] = [
                self._called(message, place, turn_id, index) for place in range(len(message.calls))
            ]
        kept = {"derived": derived, "native": message.native, "native_absent": list(message.absent)}
        metadata = {name: value for name, value in kept.items() if value} | dict(message.metadata or {})
        if metadata:
            turn["metadata"] = metadata
        return turn

    def _name(self, message: Message) -> str:
        """The id of the turn: its own where it is one and free, else from its place."""
        native = message.native_id
        turn_id = as_id(native)
        if turn_id is None or turn_uuid(self._scope.session, turn_id) in self._taken:
            turn_id = turn_uuid(self._scope.session, f"{self._scope.prefix}:{message.place}")
        self._taken.add(turn_uuid(self._scope.session, turn_id))
        self._names.setdefault(message.place if native is None else native, turn_id)
        return turn_id

    def _parent(self, message: Message, before: Sequence[dict[str, Any]]) -> str | EllipsisType | None:
        if message.parent is None:
            return None
        if isinstance(message.parent, str):
            # One that this document does not hold may have come in an earlier capture.
            return self._names.get(message.parent, message.parent)
        if self._scope.request_id is not None:
            # What is only new goes on from wherever the conversation ends.
            return ...
        if before:
            return str(before[-1]["turn_id"])
        if isinstance(self._scope.before, str):
            return turn_uuid(self._scope.session, f"{self._scope.prefix}:{self._scope.before}")
        return self._scope.before

    def _called(self, message: Message, place: int, turn_id: str, index: int) -> dict[str, Any]:
        call = message.calls[place]
        own = turn_uuid(self._scope.session, turn_id)
        entry: dict[str, Any] = {"tool_name": call.name or UNKNOWN_TOOL}
        if call.native_id is None:
            entry["invocation_id"] = called_invocation_uuid(own, place)
        else:
            entry["invocation_id"] = call.native_id
            self._tools.call(call_key(call.native_id), turn=index, value=entry["tool_name"])
        if call.arguments is not ...:
            entry["arguments"] = call.arguments
        return entry

    def _answered(self, message: Message, place: int) -> dict[str, Any]:
        result = message.results[place]
        native = result.native_id
        called = None if native is None else self._tools.answer(call_key(native))
        own = turn_uuid(self._scope.session, f"{self._scope.prefix}:{message.place}:result:{place}")
        entry: dict[str, Any] = {
            "tool_name": result.name or called or UNKNOWN_TOOL,
            "invocation_id": own if native is None else native,
        }
        if result.success is not None:
            entry["success"] = result.success
        return entry

    def _leaf_carrier(self, leaf: str, count: int) -> dict[str, Any]:
        """A turn that says where the conversation stands now, and nothing else (CONTRACT 9).

        It is named by how many there are, so that the one of a grown file comes after the one of the file before.
        """
        name = turn_uuid(self._scope.session, leaf)
        return {
            "turn_id": turn_uuid(self._scope.session, f"{self._scope.prefix}:leaf:{count}:{name}"),
            "role": "system",
            "content": "",
            "timestamp": self._latest,
            "parent_turn_id": leaf,
            "metadata": {"derived": ["timestamp"], "memory": {"leaf": name, "state_only": True}},
        }


def _leaves(turns: Sequence[dict[str, Any]]) -> set[str]:
    """The turns that none of ``turns`` continues."""
    continued = {turn.get("parent_turn_id") for turn in turns}
    return {turn["turn_id"] for turn in turns if turn["turn_id"] not in continued}


def call_key(native: str) -> str:
    """What a call is found by: UUIDs are compared in lower case (CONTRACT 2), all other strings as they are."""
    return native.lower() if is_uuid(native) else native
