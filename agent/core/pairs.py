"""Which call the result on a tool turn answers, over all captures and branches of a session (CONTRACT 3 and 4).

A result that names a call of the session by its id answers that call. A result whose call came in an earlier capture
has an id of its own, and is paired by its native string: with the nearest earlier call on its path that is not
answered there, the first such call of its turn. Where every call is answered, it is the nearest earlier one, as within
one payload. So as long as no call is answered twice, it makes no difference how a conversation was cut into captures.

``OpenCalls`` pairs within a payload, in the order of its array. It does not fit here: what a branch answers is open on
the others, and a result that names its call by id answers one that need not be the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from agent.core.ids import is_uuid
from agent.core.paths import SessionPaths
from agent.core.turn import SessionTurn
from agent.core.walk import walk


class Place(NamedTuple):
    """Where an invocation is named: the turn, and which of its ``invocations`` it is, from 0."""

    turn_id: str
    number: int


class Call(NamedTuple):
    """A call that a turn makes: where, its id in lower case, and its native string if it has one."""

    place: Place
    invocation_id: str
    native_id: str | None


def paired_calls(turns: Iterable[SessionTurn]) -> dict[Place, Call]:
    """The call that each result answers, by the place of the result; a result without a call is left out.

    ``turns`` are all that the session has, in any order. Linear in turns and invocations.
    """
    turns = tuple(turns)
    return _on_line(turns) if _is_line(turns) else _on_paths(turns)


def _is_line(turns: Sequence[SessionTurn]) -> bool:
    """Whether each of ``turns`` stands behind the one before it and continues it, so that there is one path, in order.

    What nearly every session is. A turn that stands there twice makes it none.
    """
    if not turns:
        return False
    before = turns[0]
    for turn in turns[1:]:
        if turn.parent_turn_id != before.turn_id or turn.seq <= before.seq:
            return False
        before = turn
    ids = {turn.turn_id for turn in turns}
    return len(ids) == len(turns) and turns[0].parent_turn_id not in ids


def _on_line(turns: Sequence[SessionTurn]) -> dict[Place, Call]:
    """``_on_paths(turns)`` of a line, at a part of the cost: only the turns that call or answer are looked at."""
    active = [turn for turn in turns if turn.fields.get("tool_invocations")]
    made = [_calls(turn) for turn in active]
    first = _first(made)
    on_path = _PathCalls()
    pairs: dict[Place, Call] = {}
    for turn, calls in zip(active, made, strict=True):
        on_path.enter(calls)
        _answer(turn, on_path, first, pairs)
    return pairs


def _on_paths(turns: Iterable[SessionTurn]) -> dict[Place, Call]:
    """The pairs of ``turns`` that continue one another in whatever way."""
    paths = SessionPaths.of(turns)
    made = {turn_id: _calls(turn) for turn_id, turn in paths.turns.items()}
    first = _first(made.values())
    on_path = _PathCalls()
    pairs: dict[Place, Call] = {}
    for turn, leaving in walk(paths):
        if leaving:
            on_path.leave()
            continue
        on_path.enter(made[turn.turn_id])
        _answer(turn, on_path, first, pairs)
    return pairs


def _first(made: Iterable[Sequence[Call]]) -> dict[str, Call]:
    """The first call of each id."""
    first: dict[str, Call] = {}
    for calls in made:
        for call in calls:
            first.setdefault(call.invocation_id, call)
    return first


def _answer(turn: SessionTurn, on_path: _PathCalls, first: Mapping[str, Call], pairs: dict[Place, Call]) -> None:
    """Add the ``pairs`` of ``turn``, which was entered last."""
    if turn.role != "tool":
        return
    for place, invocation_id, entry in named_invocations(turn):
        answered = on_path.named(invocation_id) or first.get(invocation_id) or on_path.nearest(native_id(entry))
        if answered is not None:
            on_path.answer(answered)
            pairs[place] = answered


def named_invocations(turn: SessionTurn) -> Iterator[tuple[Place, str, Mapping[str, Any]]]:
    """The invocations that ``turn`` names: the place, the id in lower case, the entry.

    An entry without an id that is a UUID (CONTRACT 1), as another writer may have sent, names none: it stays in the
    turn's record, and no reader is given an id that is none.
    """
    for number, entry in enumerate(turn.invocations):
        invocation_id = entry.get("invocation_id")
        if is_uuid(invocation_id):
            yield Place(turn.turn_id, number), invocation_id.lower(), entry


def native_id(entry: Mapping[str, Any]) -> str | None:
    """The native string of an invocation; None where its id is a UUID as it was sent."""
    native = entry.get("native_id")
    return native if isinstance(native, str) else None


def _calls(turn: SessionTurn) -> tuple[Call, ...]:
    """The calls that ``turn`` makes, in order; one that it names twice is one."""
    if turn.role == "tool":
        return ()
    calls: dict[str, Call] = {}
    for place, invocation_id, entry in named_invocations(turn):
        calls.setdefault(invocation_id, Call(place, invocation_id, native_id(entry)))
    return tuple(calls.values())


# eq=False: one is told apart by where it stands, and comparing two would walk the whole list.
@dataclass(slots=True, eq=False)
class _Open:
    """An open call in the list of those with its native string; ``nearer`` None: it is the next to be answered."""

    call: Call
    native: str
    nearer: _Open | None = None
    farther: _Open | None = None


class _PathCalls:
    """The calls on the path to where the walk is. Every operation takes constant time, and is taken back by ``leave``.

    The open calls with one native string are a linked list: one in its middle can be taken out, and put back where it
    was as long as everything is taken back in reverse.
    """

    def __init__(self) -> None:
        self._next: dict[str, _Open | None] = {}
        self._open: dict[Place, _Open] = {}
        # All calls on the path, per native string and per id, the nearest last.
        self._by_native: dict[str, list[Call]] = {}
        self._by_id: dict[str, list[Call]] = {}
        # Per turn on the path: its calls, and the calls that it answered.
        self._entered: list[tuple[Sequence[Call], list[_Open]]] = []

    def enter(self, calls: Sequence[Call]) -> None:
        """Go down to a turn that makes ``calls``."""
        self._entered.append((calls, []))
        for call in calls:
            self._by_id.setdefault(call.invocation_id, []).append(call)
            if call.native_id is not None:
                self._by_native.setdefault(call.native_id, []).append(call)
        # In reverse: the first of a turn is answered first.
        for call in reversed(calls):
            if call.native_id is not None:
                self._put(_Open(call, call.native_id, farther=self._next.get(call.native_id)))

    def leave(self) -> None:
        """Go up again from the turn that was entered last."""
        calls, answered = self._entered.pop()
        for one in reversed(answered):
            self._put(one)
        for call in calls:
            if call.native_id is not None:
                self._take(self._open[call.place])
                self._by_native[call.native_id].pop()
            self._by_id[call.invocation_id].pop()

    def named(self, invocation_id: str) -> Call | None:
        """The nearest call on the path that has this id."""
        calls = self._by_id.get(invocation_id)
        return calls[-1] if calls else None

    def nearest(self, native: str | None) -> Call | None:
        """The open call that the next result ``native`` answers; where none is open, the nearest call."""
        if native is None:
            return None
        following = self._next.get(native)
        if following is not None:
            return following.call
        calls = self._by_native.get(native)
        return calls[-1] if calls else None

    def answer(self, call: Call) -> None:
        """``call`` is open no longer, if it is on the path and was."""
        one = self._open.get(call.place)
        if one is not None:
            self._take(one)
            self._entered[-1][1].append(one)

    def _take(self, one: _Open) -> None:
        del self._open[one.call.place]
        if one.nearer is None:
            self._next[one.native] = one.farther
        else:
            one.nearer.farther = one.farther
        if one.farther is not None:
            one.farther.nearer = one.nearer

    def _put(self, one: _Open) -> None:
        """Put ``one`` between its neighbours, which are as they were when it was last taken, or before it."""
        self._open[one.call.place] = one
        if one.nearer is None:
            self._next[one.native] = one
        else:
            one.nearer.farther = one
        if one.farther is not None:
            one.farther.nearer = one
