"""Which turns of a history a model is shown: the newest, and no exchange of calls and results in parts.

Providers refuse a result without its call, and a call that lost its result. So of an exchange, which is a call with all
its results, and with the calls that these answer too, either everything is shown or nothing. ``newest`` never gives
more than it may, and leaves out an exchange that does not fit; ``at_least`` gives more where it has to. What never had
its other half, or has it where this history does not show it, stands alone as it is.

System turns stay, whatever their age: they are what the model is told to be. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from agent.core.cut import Cuts
from agent.core.pairs import Call, Place
from agent.core.turn import SessionTurn
from agent.errors import Problem, ValidationError

# Those of the session, for who has to know them.
Pairs = Callable[[], Mapping[Place, Call]]


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


def newest(history: Sequence[SessionTurn], pairs: Pairs, *, most: int) -> Newest:
    """At most ``most`` turns of ``history``, in its order: its system turns, and the newest of the others.

    An exchange that begins before them is left out whole.
    """
    there = [turn for turn in history if not turn.erased]
    system = [turn.turn_id for turn in islice(_of_role(there, system=True), most)]
    kept = {*system, *(turn.turn_id for turn in islice(_of_role(there, system=False), most - len(system)))}
    turns = [turn for turn in there if turn.turn_id in kept]
    if len(turns) < len(there) and any(map(_is_result, turns)):
        parted = _parted(turns, pairs(), {turn.turn_id for turn in there} - kept)
        turns = [turn for turn in turns if turn.turn_id not in parted]
    return Newest(tuple(turns), len(history), len(history) - len(there))


def at_least(history: Sequence[SessionTurn], pairs: Pairs, *, count: int) -> Newest:
    """The newest ``count`` turns of ``history``, system turns among them, and more where an exchange began before.

    One turn that is not of the system is always among them, if there is any.
    """
    there = [turn for turn in history if not turn.erased]
    system = {turn.turn_id for turn in islice(_of_role(there, system=True), count)}
    messages = [turn for turn in there if turn.role != "system"]
    fitting = min(max(1, count - len(system)), len(messages))
    if any(map(_is_result, islice(reversed(messages), fitting))):
        fitting = Cuts.of(there, pairs()).smallest(fitting)
    kept = system.union(turn.turn_id for turn in islice(reversed(messages), fitting))
    turns = tuple(turn for turn in there if turn.turn_id in kept)
    return Newest(turns, len(history), len(history) - len(there))


def before(history: Sequence[SessionTurn], turn_id: str) -> Sequence[SessionTurn] | None:
    """What ``history`` shows before the message ``turn_id``; None where it does not show it.

    Whether a message is there, its id decides: a retried request may have captured it. Equal text never does, since
    people say the same thing twice. Raises ValidationError for the turn of somebody else than a user.
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


def _is_result(turn: SessionTurn) -> bool:
    return turn.role == "tool" and bool(turn.invocations)


def _parted(turns: Sequence[SessionTurn], pairs: Mapping[Place, Call], cut_off: Collection[str]) -> set[str]:
    """Those of ``turns`` that belong to an exchange of which a call is ``cut_off``; system turns belong to none."""
    kept = {turn.turn_id for turn in turns if turn.role != "system"}
    beside: dict[str, list[str]] = {}
    going: list[str] = []
    for turn in filter(_is_result, turns):
        for call in _called_by(turn, pairs):
            if call in cut_off:
                going.append(turn.turn_id)
            elif call in kept:
                beside.setdefault(turn.turn_id, []).append(call)
                beside.setdefault(call, []).append(turn.turn_id)
    parted: set[str] = set()
    while going:
        turn_id = going.pop()
        if turn_id not in parted:
            parted.add(turn_id)
            going += beside.get(turn_id, ())
    return parted


def _called_by(turn: SessionTurn, pairs: Mapping[Place, Call]) -> Iterator[str]:
    """The turns whose calls ``turn`` answers."""
    answered = (pairs.get(Place(turn.turn_id, number)) for number in range(len(turn.invocations)))
    return (call.place.turn_id for call in answered if call is not None)
