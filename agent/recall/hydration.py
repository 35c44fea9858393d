"""What a chat service needs before it calls its model: the messages before the current one, and that one exactly once.

Whether the current message is in the session already, its ``turn_id`` decides: a retried request may have captured it.
Equal text never does, since people say the same thing twice. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from agent.core.pairs import Call, Place
from agent.core.turn import SessionTurn
from agent.errors import Problem, ValidationError


class Newest(NamedTuple):
    """The newest turns of a history that has ``total``, as a model may be shown them.

    ``erased`` are left out: they say nothing. ``is_truncated``: more are.
    """

    turns: tuple[SessionTurn, ...]
    total: int
    erased: int

    @property
    def is_truncated(self) -> bool:
        return len(self.turns) + self.erased < self.total


def newest(history: Sequence[SessionTurn], pairs: Callable[[], Mapping[Place, Call]], *, most: int) -> Newest:
    """At most ``most`` turns of ``history``, in its order: its system turns, and the newest of the others.

    System turns stay, whatever their age: they are what the model is told to be. A model refuses a result without its
    call, so a result whose call is cut off goes too. ``pairs`` gives those of the session, if one has to know them.
    """
    there = [turn for turn in history if not turn.erased]
    system = [turn.turn_id for turn in islice(_of_role(there, system=True), most)]
    kept = {*system, *(turn.turn_id for turn in islice(_of_role(there, system=False), most - len(system)))}
    turns = [turn for turn in there if turn.turn_id in kept]
    if len(turns) < len(there) and any(turn.role == "tool" and turn.invocations for turn in turns):
        answered, cut_off = pairs(), {turn.turn_id for turn in there} - kept
        turns = [turn for turn in turns if cut_off.isdisjoint(_called_by(turn, answered))]
    return Newest(tuple(turns), len(history), len(history) - len(there))


def before(history: Sequence[SessionTurn], turn_id: str) -> Sequence[SessionTurn] | None:
    """What ``history`` shows before the message ``turn_id``; None where it does not show it.

    Raises ValidationError for the turn of somebody else than a user.
    """
    for place, turn in enumerate(history):
        if turn.turn_id == turn_id:
            if turn.role != "user":
                problem = Problem("$.turn_id", "user_turn")
                raise ValidationError("turn_id names a turn of the session that no user said", [problem])
            return history[:place]
    return None


def _of_role(turns: Sequence[SessionTurn], *, system: bool) -> filter[SessionTurn]:
    """System turns or all others, the newest first."""
    return filter(lambda turn: (turn.role == "system") is system, reversed(turns))


def _called_by(turn: SessionTurn, pairs: Mapping[Place, Call]) -> list[str]:
    """The turns whose calls ``turn`` answers."""
    numbers = range(len(turn.invocations) if turn.role == "tool" else 0)
    answered = (pairs.get(Place(turn.turn_id, number)) for number in numbers)
    return [call.place.turn_id for call in answered if call is not None]
