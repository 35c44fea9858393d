"""Calls of models that were traced, as the conversations that they are, whichever records of them come together.

Every call repeats what was said before, and the calls of one session may lie in several traces that are read together
or one after the other: the same turns come out. So a message is named by what was said up to it, not by its place among
the records, and a conversation by its first message that is no instruction. Instructions may differ from call to call
(a clock in them is enough), so they do not say which conversation it is: those that come later stand beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from agent.core.ids import conversation_uuid
from agent.core.json_path import json_path
from agent.errors import ValidationError
from agent.formats.conversation.message import Conversation, Ignored, Message
from agent.formats.conversation.model_calls import Line, ModelCall, lines_of, said_key
from agent.formats.end_user import context_of, end_user
from agent.formats.spans import Record, listed, record_of

# What a span says of a message, and not the message: it is told otherwise where a later call repeats it, so a store
# keeps what came first (CONTRACT 10). What is kept of the message, too: an answer repeated as history lacks some of it.
TOLD: Final = ("timestamp", "model", "token_usage", "metadata")
_FIRST: Final = (*TOLD, "parent_turn_id")


@dataclass(slots=True)
class Traced:
    """The calls of one session. ``native`` is what their records say beside the messages, ``context`` CONTRACT 1's."""

    calls: list[ModelCall] = field(default_factory=list)
    context: Mapping[str, Any] = field(default_factory=dict)
    started: str | None = None
    native: dict[str, Any] = field(default_factory=dict)

    def add_native(self, found: Mapping[str, Any]) -> None:
        """Keep what is not known yet: of what several calls say, the first."""
        for name, value in found.items():
            self.native.setdefault(name, value)


class Sessions:
    """Which session a record is of: what ``own`` tells of it, of a span above it, or of its trace; else the trace."""

    def __init__(self, records: Iterable[Record], own: Callable[[Record], str | None]) -> None:
        self._own = own
        self._parents: dict[tuple[str | None, str], str | None] = {}
        self._named: dict[tuple[str | None, str], str] = {}
        self._traces: dict[str, str] = {}
        self._found: dict[tuple[str | None, str], str | None] = {}
        for record in records:
            named = own(record)
            if record.span_id is not None:
                place = record.trace_id, record.span_id
                if record.event is None:
                    self._parents.setdefault(place, record.parent_id)
                if named is not None:
                    self._named.setdefault(place, named)
            if named is not None and record.trace_id is not None:
                self._traces.setdefault(record.trace_id, named)

    def session_of(self, record: Record) -> str | None:
        """The session's id, None where nothing names one."""
        named = self._own(record)
        if named is None and record.span_id is not None:
            named = self._named_above((record.trace_id, record.span_id))
        if named is None and record.trace_id is not None:
            named = self._traces.get(record.trace_id, record.trace_id)
        return named

    def _named_above(self, place: tuple[str | None, str]) -> str | None:
        """What the span, or the nearest one above it, names; each span is walked over once."""
        way: dict[tuple[str | None, str], None] = {}
        at: tuple[str | None, str] | None = place
        while at is not None and at not in self._found and at not in way:
            way[at] = None
            if at in self._named:
                break
            above = self._parents.get(at)
            at = None if above is None else (at[0], above)
        found = None if at is None else self._found.get(at, self._named.get(at))
        self._found.update(dict.fromkeys(way, found))
        return found


def sessions_in(
    document: Any, is_ours: Callable[[Record], bool], own: Callable[[Record], str | None], ignored: Ignored
) -> dict[str | None, list[Record]]:
    """The records in ``document`` that ``is_ours`` knows, by session in the order of their first ones.

    ``own`` is the session that a record names itself. What is no record of ours is counted.
    """
    records = []
    for at, raw in listed(document):
        record = record_of(raw, at)
        if record is None:
            ignored.add("lines that are no records", json_path(at))
        elif is_ours(record):
            records.append(record)
        else:
            ignored.add("records of other operations", record.path())
    named = Sessions(records, own)
    found: dict[str | None, list[Record]] = {}
    for record in records:
        found.setdefault(named.session_of(record), []).append(record)
    return found


def end_user_context(form: str, records: Iterable[Record], ignored: Ignored) -> dict[str, Any]:
    """The ``context`` of a session with these ``records``: the end user that they name, where it is one."""
    users = [end_user(form, record.attributes, record.attribute_path(), ignored) for record in records]
    return context_of(users, "$", ignored)


def spans_above(records: Iterable[Record], calls: Iterable[Record]) -> set[tuple[str | None, str | None]]:
    """The spans, by trace and span id, that ``calls`` were made under."""
    parents = {(r.trace_id, r.span_id): r.parent_id for r in records if r.event is None and r.span_id is not None}
    above: set[tuple[str | None, str | None]] = set()
    for call in calls:
        at = None if call.span_id is None else parents.get((call.trace_id, call.span_id))
        while at is not None and (call.trace_id, at) not in above:
            above.add((call.trace_id, at))
            at = parents.get((call.trace_id, at))
    return above


def counted(
    found: Iterable[Conversation | ValidationError], ignored: Ignored
) -> Iterator[Conversation | ValidationError]:
    """``found``, the first conversation with what was ignored in all of its document, which may be all there is."""
    listed = list(found)
    first = next((place for place, each in enumerate(listed) if isinstance(each, Conversation)), None)
    if first is not None:
        listed[first] = replace(cast("Conversation", listed[first]), ignored=ignored)
    elif ignored.counts and not listed:
        listed.append(Conversation([], ignored=ignored))
    yield from listed


def conversations(session: str | None, traced: Traced) -> Iterator[Conversation]:
    """The conversations of ``traced``, in the order in which they begin."""
    heads: dict[bytes, list[list[Message]]] = {}
    bodies = []
    for call in traced.calls:
        count = _instructions(call.inputs)
        body = ModelCall(call.inputs[count:], call.outputs)
        if not (body.inputs or body.outputs):
            # Nothing but instructions was said: then they are what the conversation begins with.
            body, count = call, 0
        bodies.append(body)
        first = next(iter((*body.inputs, *body.outputs)), None)
        if first is not None:
            known = heads.setdefault(said_key(first), [])
            head = list(call.inputs[:count])
            if head and [said_key(each) for each in head] not in [[said_key(m) for m in one] for one in known]:
                known.append(head)
    for number, line in enumerate(lines_of(bodies)):
        yield replace(_conversation(line, heads[said_key(line.messages[0])], session, traced), number=number)


def _instructions(messages: Sequence[Message]) -> int:
    return next((place for place, each in enumerate(messages) if each.role != "system"), len(messages))


def _conversation(line: Line, heads: Iterable[Sequence[Message]], session: str | None, traced: Traced) -> Conversation:
    before: list[Message] = []
    parent: str | None = None
    for number, head in enumerate(heads):
        above: str | None = None
        for message in head:
            place = _place("instructions", above, message)
            if place not in {each.place for each in before}:
                before.append(message._replace(place=place, parent=above, native_id=None, derived=_told(message)))
            above = place
        if number == 0:
            parent = above
    places: dict[str, str] = {}
    said = []
    for message in line.messages:
        is_first = message.parent is None
        named = places[message.place] = _place(
            "message", None if not isinstance(message.parent, str) else places[message.parent], message
        )
        above = parent if is_first else places[str(message.parent)]
        said.append(message._replace(place=named, parent=above, derived=_told(message, is_first=is_first)))
    return Conversation(
        [*before, *said],
        session_id=session,
        conversation_id=conversation_uuid(f"{session}#{said[0].place}") if session is not None else None,
        timestamp=traced.started,
        leaf=places[line.leaf],
        context=traced.context,
        native=traced.native,
    )


def _told(message: Message, *, is_first: bool = False) -> list[str]:
    names = _FIRST if is_first else TOLD
    # Where there is no time the payload says so itself.
    return [name for name in names if name != "timestamp" or message.timestamp is not None]


def _place(kind: str, above: str | None, message: Message) -> str:
    """The name of ``message`` after ``above``; a letter first, since digits alone would be a place in a list."""
    said = hashlib.sha256(f"{kind}:{above}:".encode() + said_key(message))
    return f"m{said.hexdigest()[:32]}"
