"""The smallest parts that a window keeps or drops whole, and the exchanges that they make up.

An atom is a message that is no system turn, or a call with all its results and whatever stands between them: no
provider takes anything between a call and its result. An exchange is a user's message and all atoms before the next.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agent.core.pairs import Call, Place, named_invocations
from agent.core.turn import SessionTurn


class Atoms(NamedTuple):
    """Of messages without system turns. ``starts``: the place of the first message of each atom, and their number.

    ``exchanges``: the first atom of each exchange. ``newest_user``: the atom of the newest user's message, None where
    no user spoke. ``open``: the atom whose calls may still be answered, if there is one.
    """

    starts: list[int]
    exchanges: list[int]
    newest_user: int | None
    open: int | None


def atoms(messages: Sequence[SessionTurn], pairs: Mapping[Place, Call]) -> Atoms:
    """The atoms of ``messages``, none of which is half an exchange of calls and results."""
    lowest, answered = _callers(messages, pairs)
    starts: list[int] = []
    place = len(messages)
    if not answered:
        starts, place = lowest[::-1], 0
    while place:
        place -= 1
        first = lowest[place]
        while place > first:
            place -= 1
            first = min(first, lowest[place])
        starts.append(place)
    starts.reverse()
    exchanges = [atom for atom, start in enumerate(starts) if messages[start].role == "user" or not atom]
    newest_user = exchanges[-1] if exchanges and messages[starts[exchanges[-1]]].role == "user" else None
    opened = next((place for place in reversed(range(len(messages))) if messages[place].role != "tool"), None)
    is_open = opened is not None and not _called(messages[opened]) <= answered
    open_atom = bisect_right(starts, opened) - 1 if is_open and opened is not None else None
    return Atoms([*starts, len(messages)], exchanges, newest_user, open_atom)


def _callers(messages: Sequence[SessionTurn], pairs: Mapping[Place, Call]) -> tuple[list[int], set[Place]]:
    """For each message the place of the first call that it answers, else its own; and all calls that are answered."""
    lowest = list(range(len(messages)))
    answered: set[Place] = set()
    places: dict[str, int] = {}
    for place, turn in enumerate(messages):
        if turn.role != "tool":
            # Most turns make no calls.
            if turn.fields.get("tool_invocations"):
                places[turn.turn_id] = place
            continue
        for named, _, _ in named_invocations(turn):
            call = pairs.get(named)
            if call is not None:
                answered.add(call.place)
                lowest[place] = min(lowest[place], places.get(call.place.turn_id, place))
    return lowest, answered


def _called(turn: SessionTurn) -> set[Place]:
    """The calls of ``turn``; one that it names twice is one, at the first place."""
    calls: dict[str, Place] = {}
    for place, invocation_id, _ in named_invocations(turn):
        calls.setdefault(invocation_id, place)
    return set(calls.values())
