"""Exchanges of calls and results, given whole or not at all: no model takes a list that holds half of one.

A result is given if its call is given before it, and a turn's calls are given if each has its result behind it, with no
message of a user between. What falls short goes with all that it was exchanged with: results are left out, and a turn
that called is given without its calls, or left out where it says nothing else. Why the other half is not there makes no
difference: erased, cut off, said elsewhere in a merged history, or never captured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final, NamedTuple

from agent.core.pairs import Call, Place, named_invocations
from agent.core.turn import SessionTurn

_BETWEEN: Final = ("tool", "system")


class WholeExchanges(NamedTuple):
    """``turns`` as a model takes them. ``results``: so many turns are left out; ``calls``: so many lost their calls."""

    turns: tuple[SessionTurn, ...]
    results: int
    calls: int


def whole_exchanges(
    turns: Sequence[SessionTurn], pairs: Mapping[Place, Call], *, open_end: bool = False
) -> WholeExchanges:
    """``turns``, none of them erased, without what is half an exchange among them.

    A turn that is held without its content counts as one that says something. ``pairs`` are those of the session.
    ``open_end``: calls that only results follow may still be answered, and stay.
    """
    parted = _parted(turns, pairs, open_end=open_end)
    if not parted:
        return WholeExchanges(tuple(turns), 0, 0)
    given: list[SessionTurn] = []
    for place, turn in enumerate(turns):
        if place not in parted:
            given.append(turn)
        elif turn.role != "tool" and (turn.content is None or turn.content.strip()):
            fields = {name: value for name, value in turn.fields.items() if name != "tool_invocations"}
            given.append(replace(turn, fields=fields))
    results = sum(turns[place].role == "tool" for place in parted)
    return WholeExchanges(tuple(given), results, len(parted) - results)


def may_answer(turn: SessionTurn) -> bool:
    """Whether it is a result of something, so that the session's pairs are needed to tell of what."""
    return turn.role == "tool" and bool(turn.invocations)


def _parted(turns: Sequence[SessionTurn], pairs: Mapping[Place, Call], *, open_end: bool) -> set[int]:
    """The places in ``turns`` of what is half an exchange. Linear in turns and invocations."""
    # Most turns make no calls.
    calling = (place for place, turn in enumerate(turns) if turn.fields.get("tool_invocations") and turn.role != "tool")
    open_calls = {place: set(_called(turns[place])) for place in calling}
    results = [place for place, turn in enumerate(turns) if turn.role == "tool"]
    if not open_calls and not results:
        return set()
    beside: dict[int, list[int]] = {}
    going: list[int] = []
    answers = _Answers(turns)
    for place in results:
        named = [pairs.get(named) for named, _, _ in named_invocations(turns[place])]
        if not named:
            going.append(place)
        for call in named:
            caller = None if call is None else answers.caller(call, place)
            if call is None or caller is None or caller not in open_calls:
                going.append(place)
                continue
            open_calls[caller].discard(call.place)
            beside.setdefault(place, []).append(caller)
            beside.setdefault(caller, []).append(place)
    end = _end(turns) if open_end else len(turns)
    going += [place for place, calls in open_calls.items() if calls and place < end]
    parted: set[int] = set()
    while going:
        place = going.pop()
        if place not in parted:
            parted.add(place)
            going += beside.get(place, ())
    return parted


class _Answers:
    """Tells where in ``turns`` a call is that a result may answer."""

    def __init__(self, turns: Sequence[SessionTurn]) -> None:
        self._places = {turn.turn_id: place for place, turn in enumerate(turns)}
        self._users = list(accumulate((turn.role == "user" for turn in turns), initial=0))

    def caller(self, call: Call, result: int) -> int | None:
        """The place of the turn of ``call``; None where it is not before the result, or a user spoke since."""
        place = self._places.get(call.place.turn_id)
        if place is None or place >= result or self._users[place + 1] < self._users[result]:
            return None
        return place


def _called(turn: SessionTurn) -> Iterator[Place]:
    """The calls of ``turn``; one that it names twice is one, at the first place."""
    seen: set[str] = set()
    for place, invocation_id, _ in named_invocations(turn):
        if invocation_id not in seen:
            seen.add(invocation_id)
            yield place


def _end(turns: Sequence[SessionTurn]) -> int:
    """The place of the last turn that is neither a result nor of the system; its calls may still be answered."""
    last = (place for place in reversed(range(len(turns))) if turns[place].role not in _BETWEEN)
    return next(last, 0)
