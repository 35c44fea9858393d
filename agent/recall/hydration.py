"""Which turns of a history a model is shown: the newest, at most or at least so many.

System turns are kept longest, since they are what the model is told to be; but half of the room is for what is said, as
far as there is that much. ``newest`` never gives more than it may, whatever it parts: ``agent.core.exchanges`` leaves
out what is half an exchange then. ``at_least`` gives more where a result would lose its call. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from agent.core.cut import Cuts
from agent.core.exchanges import may_answer, whole_exchanges
from agent.core.pairs import Call, Place
from agent.core.turn import SessionTurn

# Those of the session, for who has to know them.
Pairs = Callable[[], Mapping[Place, Call]]


class Newest(NamedTuple):
    """The newest turns of a history that has ``total``, as a model may be shown them.

    ``erased`` are left out: they say nothing. ``results`` and ``calls``: so many turns are left out, or to be given
    without their calls, since of their exchange a part is not there.
    """

    turns: tuple[SessionTurn, ...]
    total: int
    erased: int
    results: int = 0
    calls: int = 0

    @property
    def is_truncated(self) -> bool:
        return len(self.turns) + self.erased < self.total


def newest(history: Sequence[SessionTurn], *, most: int) -> Newest:
    """At most ``most`` turns of ``history``, in its order: some of the system, and the newest others."""
    there = [turn for turn in history if not turn.erased]
    messages = [turn for turn in there if turn.role != "system"]
    system = _room_of_system(len(there) - len(messages), len(messages), most)
    return Newest(_ending(there, system, most - system), len(history), len(history) - len(there))


def at_least(history: Sequence[SessionTurn], pairs: Pairs, *, count: int) -> Newest:
    """The newest ``count`` turns of ``history``, system turns among them, and more where an exchange began before.

    One turn of the system and one that is none are always among them, if there are any. What is half an exchange in
    the history is not counted as there; calls at its end may still be answered.
    """
    there = [turn for turn in history if not turn.erased]
    found = whole_exchanges(there, pairs() if any(map(may_answer, there)) else {}, open_end=True)
    there = list(found.turns)
    messages = [turn for turn in there if turn.role != "system"]
    system = _room_of_system(len(there) - len(messages), len(messages), max(2, count))
    fitting = min(max(1, count - system), len(messages))
    if any(map(may_answer, islice(reversed(messages), fitting))):
        fitting = Cuts.of(there, pairs()).smallest(fitting)
    erased = sum(turn.erased for turn in history)
    return Newest(_ending(there, system, fitting), len(history), erased, found.results, found.calls)


def before(history: Sequence[SessionTurn], turn_id: str) -> Sequence[SessionTurn] | None:
    """What ``history`` shows before the message ``turn_id``; None where it does not show it.

    Whether a message is there, its id decides: a retried request may have captured it. Equal text never does, since
    people say the same thing twice.
    """
    for place, turn in enumerate(history):
        if turn.turn_id == turn_id:
            return history[:place]
    return None


def _room_of_system(system: int, messages: int, most: int) -> int:
    """How many of ``system`` turns are kept among ``most``: no more than half of them where there are messages."""
    return min(system, max(most // 2, most - messages))


def _ending(there: Sequence[SessionTurn], system: int, messages: int) -> tuple[SessionTurn, ...]:
    """The newest turns of ``there``, in its order: so many of the system, and so many others.

    The first of the system is one of its turns, whatever came later: it is what the model was told to be.
    """
    first = (turn.turn_id for turn in there if turn.role == "system")
    kept = {*islice(first, min(system, 1))}
    kept.update(turn.turn_id for turn in islice(_of_role(there, system=True), max(0, system - 1)))
    kept.update(turn.turn_id for turn in islice(_of_role(there, system=False), messages))
    return tuple(turn for turn in there if turn.turn_id in kept)


def _of_role(turns: Sequence[SessionTurn], *, system: bool) -> Iterator[SessionTurn]:
    """System turns or all others, the newest first."""
    return (turn for turn in reversed(turns) if (turn.role == "system") is system)
