"""The history as messages of blocks: every turn that came as one is it again, any other the message that says it best.

The turns of one message are one message again. Whatever ``metadata.native`` holds, a message is only given back if it
says what its turns say: they may have been edited since, and native may be anybody's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.core.canonical import canonical
from agent.core.pairs import named_invocations, native_id
from agent.formats.blocks.message import Demands, Dialect, makes, read_message, usual_role
from agent.formats.content_parts import digests_in
from agent.formats.conversation.message import Call, Message, Result
from agent.formats.conversation.payload import call_key
from agent.formats.conversation.said import Said, SaidCall, document, joined, said
from agent.formats.conversation.times import stated
from agent.formats.prompt_turn import joined_how
from agent.formats.tool_calls import UNKNOWN_TOOL
from agent.formats.writing import Session, Written


def write_messages(session: Session, dialect: Dialect, demands: Demands) -> Written:
    """The history of ``session`` as ``{"system"?, "messages"}``.

    Kinds of what is lost, beside those of ``said``: ``answers`` (what an answer said beside its message),
    ``arguments`` (calls whose arguments are none, or no object where the provider wants one), ``binaries``,
    ``empty_messages``, ``joined_turns``, ``odd_call_ids``, ``odd_tool_names``, ``originals`` (turns that say something
    else than the message that they came as, of which only their fields are left), ``several_results``, ``times``,
    ``tool_names`` (results that name another tool than their call).
    """
    turns, lost = said(session, dialect.name)
    out = _Out(dialect, demands, lost)
    for run in _runs(joined(turns, lost)):
        out.add(run)
    members: dict[str, Any] = {} if out.system is None else {"system": out.system}
    return document(session, {**members, "messages": out.messages}, lost)


def _runs(turns: Sequence[Said]) -> Iterator[list[Said]]:
    """The turns that were one message, by their marks."""
    run: list[Said] = []
    for turn in turns:
        number = 0 if turn.native is None else turn.native.get("turn_of_message", 0)
        is_next = isinstance(number, int) and bool(run) and number == _number(run[-1]) + 1 and number > 0
        if run and not is_next:
            yield run
            run = []
        run.append(turn)
    if run:
        yield run


def _number(turn: Said) -> int:
    number = 0 if turn.native is None else turn.native.get("turn_of_message", 0)
    return number if isinstance(number, int) else 0


class _Out:
    """The messages while they grow. ``results`` are the blocks of a message of results that still may grow."""

    def __init__(self, dialect: Dialect, demands: Demands, lost: Counter[str]) -> None:
        self._dialect = dialect
        self._demands = demands
        self._lost = lost
        self._names: dict[str, str] = {}
        self._results: list[Any] | None = None
        self.system: Any = None
        self.messages: list[dict[str, Any]] = []

    def add(self, run: Sequence[Said]) -> None:
        message = _given_back(self._dialect, run)
        if message is None and len(run) > 1:
            for turn in run:
                self.add([turn])
            return
        for turn in run:
            self._count(turn, message)
        if message is not None:
            self._lost["binaries"] += digests_in(message)
            self._put(message, run[0])
        elif run[0].role == "tool":
            self._put_results(run[0])
        else:
            self._put(self._made(run[0]), run[0])

    def _count(self, turn: Said, message: Mapping[str, Any] | None) -> None:
        """Count what ``turn`` says and its message, given back or (None) made, does not."""
        for call in turn.calls:
            self._names[call.id] = call.name
        for result in turn.results:
            called = self._names.get(result.id, UNKNOWN_TOOL) if result.has_call else UNKNOWN_TOOL
            self._lost["tool_names"] += result.name != called
        kept = None if message is None else stated(message.get("timestamp"))
        self._lost["times"] += turn.timestamp is not None and kept is None
        native = turn.native or {}
        self._lost["answers"] += "answer" in native
        self._lost["originals"] += message is None and bool(native.keys() - {"answer"})

    def _put(self, message: dict[str, Any], turn: Said) -> None:
        self._results = None
        is_beside = turn.role == "system" and (turn.native or {}).get("in") != "messages"
        if is_beside and turn.content and self.system is None and not self.messages:
            self.system = message["content"]
            return
        is_empty = not message.get("content")
        self._lost["empty_messages"] += is_empty
        if self._joins(message, turn):
            self.messages[-1] = {**message, **self.messages[-1], "content": self._blocks_of_both(message)}
        elif not (is_empty and turn.role == "system" and turn.native is None):
            # Instructions that say nothing, as exports have them, are left out: no provider takes them.
            self.messages.append(message)

    def _joins(self, message: Mapping[str, Any], turn: Said) -> bool:
        """Whether ``message`` goes on with the one before it: a window's list has no two of one speaker in a row."""
        is_next = joined_how(turn.turn) == "message" and bool(self.messages)
        return is_next and self.messages[-1]["role"] == message["role"]

    def _blocks_of_both(self, message: Mapping[str, Any]) -> list[Any]:
        contents = (self.messages[-1].get("content"), message.get("content"))
        listed = ([self._dialect.text(each)] if isinstance(each, str) else each or [] for each in contents)
        # No provider takes a text between a call and its result. Sorting keeps the order of each kind.
        return sorted((block for blocks in listed for block in blocks), key=_is_call)

    def _made(self, turn: Said) -> dict[str, Any]:
        blocks = [self._dialect.text(turn.content)] if turn.content else []
        is_first = self.system is None and not self.messages
        if turn.role == "system" and blocks and is_first and self._dialect.system_is_text:
            return {"role": "system", "content": turn.content}
        blocks += [self._call(call) for call in turn.calls]
        return {"role": turn.role, "content": blocks}

    def _call(self, call: SaidCall) -> dict[str, Any]:
        is_plain = call.arguments is not ... and (
            isinstance(call.arguments, dict) or not self._demands.arguments_are_objects
        )
        self._lost["arguments"] += not is_plain
        self._lost["odd_tool_names"] += re.fullmatch(self._demands.tool_name, call.name, re.ASCII) is None
        self._lost["odd_call_ids"] += re.fullmatch(self._demands.call_id, call.id, re.ASCII) is None
        return self._dialect.call(call.id, call.name, call.arguments)

    def _put_results(self, turn: Said) -> None:
        """A block for each call that the turn answers, each with the whole text: a provider wants all answered.

        Results that follow one another stand in one message.
        """
        results = [Result(result.id, None, result.success) for result in turn.results] or [Result(turn.turn.turn_id)]
        self._lost["several_results"] += len(results) > 1
        if self._results is None:
            self._results = []
            if self._joins({"role": "user"}, turn):
                self._results = self.messages[-1]["content"] = self._blocks_of_both({})
            else:
                self.messages.append({"role": "user", "content": self._results})
        self._results += [self._dialect.results(result, turn.content)[0] for result in results]


def _is_call(block: Any) -> bool:
    """Whether another message has to bring the result of ``block``."""
    return isinstance(block, dict) and (block.get("type") == "tool_use" or "toolUse" in block)


def _given_back(dialect: Dialect, run: Sequence[Said]) -> dict[str, Any] | None:
    """The message that the turns of ``run`` came as; None where that is not known, or says something else now."""
    natives = [turn.native for turn in run if turn.native is not None]
    if len(natives) < len(run):
        return None
    message = _rebuilt(dialect, run, natives)
    if message is None:
        return None
    again = read_message(dialect, message, 0, "$", [])
    if len(again) != len(run):
        return None
    return message if all(map(_agrees, again, run)) else None


def _rebuilt(dialect: Dialect, run: Sequence[Said], natives: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    first = natives[0]
    fields = first.get("fields", {})
    if not isinstance(fields, dict):
        return None
    is_beside = run[0].role == "system" and first.get("in") != "messages"
    form = first.get("content", "text" if is_beside and dialect.system_is_text else "list")
    message = {name: value for name, value in fields.items() if name not in ("role", "content")}
    message["role"] = first.get("role", usual_role(run[0].role))
    if form == "list":
        blocks = _blocks(dialect, run, natives)
        if blocks is None:
            return None
        message["content"] = blocks
    elif form == "text":
        message["content"] = run[0].content
    elif form == "null":
        message["content"] = None
    return message


def _blocks(dialect: Dialect, run: Sequence[Said], natives: Sequence[Mapping[str, Any]]) -> list[Any] | None:
    """The blocks of all turns of a message, in their order; None where native is not what a reader keeps."""
    blocks: list[Any] = []
    places: list[Any] = []
    for turn, native in zip(run, natives, strict=True):
        made = makes(
            dialect,
            turn.role,
            turn.content,
            [Call(call.name, call.id, call.arguments) for call in turn.calls],
            [Result(result.id, None, result.success) for result in turn.results],
        )
        usual = [0] if turn.role == "tool" else list(range(len(made)))
        parts = native.get("parts", usual)
        at = native.get("at", range(len(blocks), len(blocks) + len(parts)) if isinstance(parts, list) else None)
        if not isinstance(parts, list) or not isinstance(at, list | range) or len(at) != len(parts):
            return None
        blocks += [_block(part, made) for part in parts]
        places += at
    if any(block is None for block in blocks) or not all(isinstance(place, int) for place in places):
        return None
    return [block for _, block in sorted(zip(places, blocks, strict=True), key=lambda pair: pair[0])]


def _block(part: Any, made: Sequence[Any]) -> Any:
    """The block that ``part`` stands for; None where it stands for none."""
    number, more = (part, {}) if not isinstance(part, list) else part if len(part) == 2 else (None, {})
    if isinstance(number, int) and not isinstance(number, bool) and isinstance(more, dict):
        block = made[number] if 0 <= number < len(made) else None
        return {**block, **more} if isinstance(block, dict) else None
    return None if isinstance(part, list) else part


def _agrees(message: Message, turn: Said) -> bool:
    """Whether ``message``, read from what would be written, says what ``turn`` does."""
    if (message.role, message.content) != (turn.role, turn.content):
        return False
    if message.timestamp not in (None, turn.timestamp):
        return False
    if len(message.calls) != len(turn.calls) or len(message.results) != len(turn.results):
        return False
    natives = [native_id(entry) for _, _, entry in named_invocations(turn.turn)]
    told: list[tuple[str | None, str]] = [(call.native_id, said_call.id) for call, said_call in _calls(message, turn)]
    told += [(mine.native_id, its.id) for mine, its in zip(message.results, turn.results, strict=True)]
    ids_agree = all(
        mine is not None and (call_key(mine) == call_key(its) or mine == native)
        for (mine, its), native in zip(told, natives, strict=True)
    )
    return (
        ids_agree
        and all(mine.success == its.success for mine, its in zip(message.results, turn.results, strict=True))
        and all(
            (mine.name or UNKNOWN_TOOL) == its.name and _same(mine.arguments, its.arguments)
            for mine, its in _calls(message, turn)
        )
    )


def _calls(message: Message, turn: Said) -> Iterator[tuple[Call, SaidCall]]:
    return zip(message.calls, turn.calls, strict=True)


def _same(one: Any, other: Any) -> bool:
    if one is ... or other is ...:
        return one is other
    return canonical(one) == canonical(other)
