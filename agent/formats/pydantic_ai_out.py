"""The format ``pydantic-ai`` on its way out: the history as one list of requests and responses.

A turn that came as parts of such a message is those parts again, as far as they still say what the turn says; any other
becomes the part that says it best. What a message says beside its parts goes by its first turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from agent.formats.content_parts import digests_in
from agent.formats.conversation.message import Call, Message, Result
from agent.formats.conversation.said import Said, SaidResult, document, joined, said
from agent.formats.pydantic_ai_message import BEFORE, INSTRUCTIONS, ModelMessage, message_fields, read_message
from agent.formats.pydantic_ai_parts import CALLS, ROLES, call_part, completed, return_part, text_part
from agent.formats.tool_calls import UNKNOWN_TOOL, ArgumentReader
from agent.formats.writing import Session, Written

NAME: Final = "pydantic-ai"
_KIND_OF: Final = {"system": "system-prompt", "user": "user-prompt"}


def write(session: Session) -> Written:
    """The history of ``session`` as one document, for ``ModelMessagesTypeAdapter`` in its ``messages``."""
    turns, lost = said(session, NAME)
    turns = joined(turns, lost)
    writer = _Writer(lost)
    for group in _grouped(turns):
        writer.add(group)
    writer.end()
    lost["binaries"] += digests_in(writer.messages)
    return document(session, {"messages": writer.messages}, lost)


def _grouped(turns: Sequence[Said]) -> list[list[Said]]:
    """The turns by the messages that they were. What was none goes into one request, up to what the model says."""
    groups: list[list[Said]] = []
    for turn in turns:
        before = groups[-1][-1] if groups else None
        if before is not None and (_was_with(turn, before) or (_is_new(turn) and _is_new(before))):
            groups[-1].append(turn)
        else:
            groups.append([turn])
    return groups


def _was_with(turn: Said, before: Said) -> bool:
    marked = turn.native is not None and turn.native.get("of") == BEFORE
    is_message = before.native is not None and before.native.get("of") != INSTRUCTIONS
    return marked and is_message and turn.turn.parent_turn_id == before.turn.turn_id


def _is_new(turn: Said) -> bool:
    return turn.native is None and turn.role != "assistant"


class _Writer:
    """The list while it grows, with the instructions that hold, and those that no request has said yet."""

    def __init__(self, lost: Counter[str]) -> None:
        self.messages: list[dict[str, Any]] = []
        self._lost = lost
        self._in_force: str | None = None
        self._waiting: Said | None = None

    def add(self, group: Sequence[Said]) -> None:
        """Append the message that is made of ``group``."""
        first = group[0]
        if _are_instructions(first) and first.content not in {"", self._in_force}:
            self.end()
            self._waiting = first
            return
        own = self._own_message(group)
        if own is None and first.native is not None and len(group) > 1:
            # Together they are no message any more, but each may still be one.
            for turn in group:
                self.add([turn])
            return
        if own is not None and self._waiting is not None and own.get(INSTRUCTIONS) == self._waiting.content:
            self._in_force, self._waiting = self._waiting.content, None
        self.end()
        self._append(group, _made_message(group) if own is None else own)

    def end(self) -> None:
        """Say what no request took along."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._append([waiting], _made_message([waiting]))

    def _append(self, group: Sequence[Said], message: dict[str, Any]) -> None:
        self._count(group, message)
        self.messages.append(message)

    def _own_message(self, group: Sequence[Said]) -> dict[str, Any] | None:
        """The message that ``group`` came as; None where it was none, or says something else than they do."""
        first = group[0]
        if first.native is None or _are_instructions(first):
            return None
        own = _made_fields(group) | {
            name: value
            for name, value in first.native.items()
            # Instructions are a turn of their own, and what stands here is that there were none.
            if name not in {"parts", "of"} and not (name == INSTRUCTIONS and isinstance(value, str) and value)
        }
        instructions = self._in_force if self._waiting is None else self._waiting.content
        lacks_them = INSTRUCTIONS in own or INSTRUCTIONS in first.absent
        if own.get("kind") == "request" and instructions is not None and not lacks_them:
            own[INSTRUCTIONS] = instructions
        message = {"parts": [part for turn in group for part in _parts(turn, own.get("kind"))], **own}
        return message if _agrees(message, group) else None

    def _count(self, group: Sequence[Said], message: dict[str, Any]) -> None:
        """Take back what is said after all."""
        read = _read(message)
        found = () if read is None else read.turns
        self._lost["several_results"] += sum(len(turn.results) > 1 for turn in group)
        for turn, again in zip(group, found, strict=False):
            texts = (call.arguments for call in turn.calls if isinstance(call.arguments, str))
            read_as = {repr(call.arguments) for call in again.calls}
            self._lost["json_texts"] += sum(repr(text) not in read_as for text in texts)
            self._lost["models"] -= turn.model is not None and again.model == turn.model
            self._lost["token_usage"] -= turn.usage is not None and again.usage == turn.usage
            self._lost["times"] += turn.timestamp is not None and again.timestamp is None


def _are_instructions(turn: Said) -> bool:
    return turn.role == "system" and turn.native is not None and turn.native.get("of") == INSTRUCTIONS


def _made_fields(group: Sequence[Said]) -> dict[str, Any]:
    fields = message_fields("response", [_message_of(turn) for turn in group])
    answer = next((turn for turn in group if turn.role == "assistant"), None)
    if answer is not None and not _is_sum(answer):
        fields.pop("usage", None)
    return fields


def _made_message(group: Sequence[Said]) -> dict[str, Any]:
    fields = _made_fields(group)
    return {"parts": [part for turn in group for part in _parts(turn, fields["kind"])], **fields}


def _agrees(message: dict[str, Any], group: Sequence[Said]) -> bool:
    """Whether ``message`` is read as what the turns of ``group`` say."""
    read = _read(message)
    if read is None or len(read.turns) != len(group):
        return False
    return all(
        (found.model, None if "timestamp" in found.derived else found.timestamp, found.usage)
        == (turn.model, turn.timestamp, turn.usage)
        and _says(found, turn)
        for found, turn in zip(read.turns, group, strict=True)
    )


def _parts(turn: Said, kind: Any) -> list[dict[str, Any]]:
    own = _own_parts(turn, kind)
    if own is not None:
        return own
    if turn.role == "assistant":
        texts = [text_part("text", turn.content)] if turn.content else []
        return [*texts, *(call_part("tool-call", *call_of(each)) for each in turn.calls)]
    if turn.role != "tool":
        return [text_part(_KIND_OF[turn.role], turn.content, turn.timestamp)]
    answered = turn.results or (SaidResult(UNKNOWN_TOOL, turn.turn.turn_id, None, has_call=False),)
    return [
        return_part("tool-return", each.name, each.id, turn.content, success=each.success, timestamp=turn.timestamp)
        for each in answered
    ]


def _read(message: dict[str, Any]) -> ModelMessage | None:
    """The message as it will be read, its instructions aside."""
    in_force = message.get(INSTRUCTIONS)
    return read_message(message, 0, "$", [], in_force=in_force, arguments=ArgumentReader())


def call_of(call: Any) -> tuple[str, str, Any]:
    """What ``call_part`` needs of a call."""
    return call.name, call.id, call.arguments


def _is_sum(turn: Said) -> bool:
    usage = turn.usage or {}
    return usage.get("total_tokens") == usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0)


def _message_of(turn: Said) -> Message:
    calls = [Call(call.name, call.id, call.arguments) for call in turn.calls]
    return Message(
        turn.role, turn.content, "", timestamp=turn.timestamp, model=turn.model, usage=turn.usage, calls=calls
    )


def _own_parts(turn: Said, kind: Any) -> list[dict[str, Any]] | None:
    """The parts that ``turn`` came as; None where there were none, or where they say something else than it does."""
    if turn.native is None or "parts" not in turn.native:
        return None
    entries = turn.native["parts"]
    if not isinstance(entries, list):
        return None
    calls = iter(turn.calls)
    parts = []
    for entry in entries:
        part = _own_part(turn, entry, calls)
        if part is None:
            return None
        parts.append(part)
    # A part of the other kind of message would make the message none.
    read = _read({"kind": kind, "parts": parts})
    if read is None or len(read.turns) != 1 or any(_is_misplaced(part, kind) for part in parts):
        return None
    # The time of an answer is its message's.
    is_then = turn.role == "assistant" or read.turns[0].timestamp == turn.timestamp
    return parts if is_then and _says(read.turns[0], turn) else None


def _own_part(turn: Said, entry: Any, calls: Any) -> dict[str, Any] | None:
    kind = entry.get("part_kind") if isinstance(entry, dict) else None
    made: dict[str, Any] = {}
    if isinstance(kind, str) and kind in CALLS:
        call = next(calls, None)
        made = {} if call is None else call_part(kind, *call_of(call))
    elif isinstance(entry, list):
        if len(entry) == 1 and isinstance(entry[0], dict) and entry[0].get("part_kind") in CALLS:
            next(calls, None)
    elif kind == "text":
        made = text_part(kind, turn.content)
    elif turn.role == "tool" and turn.results and isinstance(kind, str) and kind in ROLES:
        result = turn.results[0]
        made = return_part(kind, result.name, result.id, turn.content, success=result.success, timestamp=turn.timestamp)
    elif isinstance(kind, str) and kind in ROLES and kind != "speech":
        made = text_part(kind, turn.content, turn.timestamp)
    return completed(entry, made)


def _is_misplaced(part: dict[str, Any], kind: Any) -> bool:
    return part.get("part_kind") == "builtin-tool-return" and kind != "response"


def _says(read: Message, turn: Said) -> bool:
    """Whether what was read again is what ``turn`` says."""
    calls = [(call.name, call.native_id, call.arguments) for call in read.calls]
    return (
        (read.role, read.content) == (turn.role, turn.content)
        and calls == [call_of(call) for call in turn.calls]
        and len(read.results) == len(turn.results)
        and all(_results_alike(found, result) for found, result in zip(read.results, turn.results, strict=True))
    )


def _results_alike(read: Result, result: SaidResult) -> bool:
    # One without a name gets it from its call.
    has_its_name = read.name == result.name or (read.name is None and (result.has_call or result.name == UNKNOWN_TOOL))
    return has_its_name and (read.native_id, read.success) == (result.id, result.success)
