"""The format ``native`` on its way out: payloads that, captured in order, make the same session again.

All turns are written, of every branch, also those that no history shows; each in its latest revision, with its parent
as the store resolved it. A turn whose capture named no parent names none where the same one is found without: so a
store that has the session already knows it again.

A payload goes on until something cannot be said in it: another conversation, a capture that said something else beside
its turns, a turn that is the parent of an earlier one of the payload or has the id of one of its calls, or more than a
capture may hold (CONTRACT 1, 2).

What is not there again: earlier revisions, and erased turns. What continued an erased turn continues what that turn
did, so that a path does not end in the middle. An erased turn that cut the history (its skeleton still says so) is
written as a turn that carries state only: what was cleared must not come back with the copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import EllipsisType
from typing import Any, Final, NamedTuple

from agent.core.canonical import encode
from agent.core.graph import MAX_TURNS_AND_INVOCATIONS
from agent.core.paths import SessionPaths
from agent.core.turn import SessionTurn
from agent.formats.plain_text import one_line
from agent.formats.writing import RECORD_FIELDS, Session, Written

# CONTRACT 2.
MAX_BYTES: Final = 10 * 1024 * 1024
MAX_VALUES: Final = 250_000
_LONGEST_PARENT: Final = len(',"parent_turn_id":"00000000-0000-0000-0000-000000000000"},')


def write(session: Session) -> Written:
    """The payloads of ``session``, one JSON document on a line each."""
    erased = {turn.turn_id for turn in session.all if turn.erased}
    session = replace(session, all=tuple(map(_standing, session.all)))
    turns = _wanted(session)
    kept = [turn for turn in turns if not turn.erased]
    documents = tuple(_payloads(session, kept))
    lost = {
        "revisions": sum(max(turn.fields.get("revisions", 1) - 1, 0) for turn in kept),
        "too_large_to_capture": sum(len(document.encode()) > MAX_BYTES for document in documents),
    }
    return Written(
        documents,
        len(turns),
        sum(turn.turn_id in erased for turn in turns),
        {kind: count for kind, count in lost.items() if count},
    )


def _standing(turn: SessionTurn) -> SessionTurn:
    """What is written in place of an erased turn that cut the history; any other turn is itself."""
    if not turn.erased or not turn.memory:
        return turn
    said = {"role": "system", "content": "", "timestamp": turn.fields.get("captured_at")}
    record = {name: value for name, value in turn.fields.items() if name in RECORD_FIELDS}
    memory = {**turn.memory, "state_only": True}
    fields = {**record, **said, "metadata": {"memory": memory}}
    return replace(turn, role="system", content="", erased=False, fields=fields)


def _wanted(session: Session) -> tuple[SessionTurn, ...]:
    """All turns; of one conversation its own, and those of others that its paths go through or end in."""
    conversation = session.conversation_id
    if conversation is None:
        return session.all
    paths = SessionPaths.of(session.all)
    own = [turn.turn_id for turn in session.all if turn.conversation_id == conversation]
    wanted = {turn.turn_id for turn in paths.merged([*own, paths.leaves[conversation]])}
    return tuple(turn for turn in session.all if turn.turn_id in wanted)


class _Fragment(NamedTuple):
    """A turn as it stands in a payload, and what decides in which. ``text`` lacks the brace that ends it."""

    turn_id: str
    parent: str | None
    names_parent: bool
    invocations: list[str]
    values: int
    text: bytes


@dataclass(slots=True)
class _Payload:
    """A payload while it grows.

    ``head`` is its text up to the first turn. ``found`` is the parent that a turn which names none would be given
    here, None for a root; absent (``...``) where that depends on the store.
    """

    head: bytes
    values: int
    size: int
    found: str | EllipsisType | None
    entries: int = 0
    ids: set[str] = field(default_factory=set)
    parents: set[str] = field(default_factory=set)
    invocations: set[str] = field(default_factory=set)
    turns: list[bytes] = field(default_factory=list)

    def takes(self, head: bytes, turn: _Fragment) -> bool:
        """Whether ``turn`` may stand here after those that do."""
        return (
            head == self.head
            and turn.turn_id not in self.parents
            and turn.turn_id not in self.invocations
            and self.ids.isdisjoint(turn.invocations)
            and self.entries + 1 + len(turn.invocations) <= MAX_TURNS_AND_INVOCATIONS
            and self.values + turn.values <= MAX_VALUES
            and self.size + len(turn.text) + _LONGEST_PARENT <= MAX_BYTES
        )

    def add(self, turn: _Fragment) -> None:
        text = turn.text
        if turn.names_parent or turn.parent != self.found:
            text += b',"parent_turn_id":' + encode(turn.parent)
        self.found = turn.turn_id
        self.ids.add(turn.turn_id)
        if turn.parent is not None:
            self.parents.add(turn.parent)
        self.invocations.update(turn.invocations)
        self.entries += 1 + len(turn.invocations)
        self.values += turn.values
        # And the brace and the comma behind it.
        self.size += len(text) + 2
        self.turns.append(text)

    def document(self) -> str:
        return (self.head + b"},".join(self.turns) + b"}]}\n").decode()


def _payloads(session: Session, turns: Iterable[SessionTurn]) -> Iterator[str]:
    by_id = {turn.turn_id: turn for turn in session.all}
    heads: dict[tuple[str, str], tuple[bytes, int]] = {}
    begun: set[str] = set()
    payload: _Payload | None = None
    for turn in turns:
        named = (turn.conversation_id, turn.fields.get("execution_ref", ""))
        if named not in heads:
            heads[named] = _head(session, turn)
        head, values = heads[named]
        fragment = _fragment(session, turn, _living_parent(turn, by_id))
        if payload is None or not payload.takes(head, fragment):
            if payload is not None:
                yield payload.document()
            # In a conversation that goes on, it would be the leaf of that moment (CONTRACT 10).
            payload = _Payload(head, values, len(head) + len("}]}\n"), ... if turn.conversation_id in begun else None)
        payload.add(fragment)
        begun.add(turn.conversation_id)
    if payload is not None:
        yield payload.document()


def _head(session: Session, turn: SessionTurn) -> tuple[bytes, int]:
    """The text of a payload up to its first turn, and how many JSON values the payload has beside its turns."""
    capture = session.capture_of(turn)
    fields = dict(capture.fields)
    if capture.conversation_id != turn.conversation_id:
        # A turn stays in the conversation that it came in first; a later capture's own name is that of another.
        fields.pop("native_conversation_id", None)
    said = {"session_id": session.session_id, "conversation_id": turn.conversation_id, **fields, "turns": []}
    return _text(said)[:-2], _count(said)


def _text(value: Any) -> bytes:
    return one_line(encode(value).decode()).encode()


def _fragment(session: Session, turn: SessionTurn, parent: str | None) -> _Fragment:
    own = {name: value for name, value in turn.fields.items() if name not in RECORD_FIELDS and name != "turn_id"}
    fields = {"turn_id": turn.turn_id, **own, **session.named_alike.get(turn.turn_id, {})}
    named = [entry.get("invocation_id") for entry in turn.invocations]
    return _Fragment(
        turn.turn_id,
        parent,
        turn.turn_id not in session.without_parent,
        [each.lower() for each in named if isinstance(each, str)],
        _count(fields) + 1,
        _text(fields)[:-1],
    )


def _living_parent(turn: SessionTurn, by_id: Mapping[str, SessionTurn]) -> str | None:
    """The turn that ``turn`` continues; where that one is erased, the nearest above it that is not."""
    passed = {turn.turn_id}
    parent = turn.parent_turn_id
    while parent is not None and (above := by_id.get(parent)) is not None and above.erased:
        passed.add(parent)
        parent = above.parent_turn_id
        if parent in passed:
            # Another store may hold a ring; ours breaks it when it comes (CONTRACT 10).
            return None
    return parent


def _count(value: Any) -> int:
    """How many JSON values ``value`` is."""
    count, level = 0, [value]
    while level:
        count += len(level)
        deeper: list[Any] = []
        for item in level:
            if isinstance(item, dict | list):
                deeper.extend(item.values() if isinstance(item, dict) else item)
        level = deeper
    return count
