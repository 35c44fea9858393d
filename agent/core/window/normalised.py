"""What of a conversation a window may hold: no skeletons of erased turns, no half exchanges of calls and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from agent.core.exchanges import may_answer, whole_exchanges
from agent.core.pairs import Call, Place, paired_calls
from agent.core.turn import SessionTurn

SYSTEM = "system"


class Lost(NamedTuple):
    """A turn that no window holds: its place in the conversation, and why."""

    place: int
    reason: str


class Normalised(NamedTuple):
    """``turns`` may be held, ``places`` are theirs in the conversation; ``lost`` are all others, in order.

    A turn that lost its calls only is there without them. ``pairs`` are those of ``turns``.
    """

    turns: list[SessionTurn]
    places: list[int]
    lost: list[Lost]
    pairs: Mapping[Place, Call]


def normalised(messages: Sequence[SessionTurn], pairs: Mapping[Place, Call] | None) -> Normalised:
    """``messages`` as a window may hold them; ``pairs`` None: a result is paired with the calls of ``messages``."""
    if not any(turn.erased or turn.role == "tool" or turn.fields.get("tool_invocations") for turn in messages):
        return Normalised(list(messages), list(range(len(messages))), [], {} if pairs is None else pairs)
    if pairs is None:
        pairs = paired_calls(messages) if any(map(may_answer, messages)) else {}
    there, pairs = _without_calls_of_system([turn for turn in messages if not turn.erased], pairs)
    whole = iter(whole_exchanges(there, pairs, open_end=True).turns)
    found = Normalised([], [], [], pairs)
    following = next(whole, None)
    for place, turn in enumerate(messages):
        if turn.erased:
            found.lost.append(Lost(place, "erased"))
        elif following is not None and following.turn_id == turn.turn_id:
            found.turns.append(following)
            found.places.append(place)
            following = next(whole, None)
        else:
            found.lost.append(Lost(place, "half_exchange"))
    return found


def _without_calls_of_system(
    there: list[SessionTurn], pairs: Mapping[Place, Call]
) -> tuple[list[SessionTurn], Mapping[Place, Call]]:
    """A system turn is always kept, whatever becomes of a result: so it makes no calls."""
    calling = {turn.turn_id for turn in there if turn.role == SYSTEM and turn.fields.get("tool_invocations")}
    if not calling:
        return there, pairs
    silent = [_silent(turn) if turn.turn_id in calling else turn for turn in there]
    return silent, {place: call for place, call in pairs.items() if call.place.turn_id not in calling}


def _silent(turn: SessionTurn) -> SessionTurn:
    return replace(turn, fields={name: value for name, value in turn.fields.items() if name != "tool_invocations"})
