"""Where a history may be cut so that no result loses its call.

``keep_last`` counts messages exactly (CONTRACT 9), and whoever writes it chooses the count. A history that begins with
a result whose call went is refused by providers. So a cut keeps the newest messages that were asked for, and as many
more as it takes to keep each result's call beside it.

Only what a cut would part counts: a result that never had a call, or whose call is not shown any longer, stands alone
wherever the cut is. System turns are never cut, and so no call of theirs goes. The other way round nothing is kept: a
call whose result is still to come may go.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.core.pairs import Call, Place
from agent.core.turn import SessionTurn


@dataclass(frozen=True, slots=True)
class Cuts:
    """The cuts of one history: ``messages`` is how many it shows, ``_fitting`` the smallest good count from each on."""

    messages: int
    _fitting: Sequence[int]

    @classmethod
    def of(cls, history: Sequence[SessionTurn], pairs: Mapping[Place, Call], *, merged: bool = False) -> Cuts:
        """The cuts of ``history``, what a view shows; ``pairs`` are those of its session (``paired_calls``).

        ``merged``: it is the history of a session. There a call and its result may have messages of conversations
        between them that neither is in. No provider takes such a list, wherever it is cut, and these two do not count:
        else one long call would hold whatever was said elsewhere meanwhile. Linear in turns and invocations.
        """
        messages = [turn for turn in history if turn.role != "system"]
        # How many pairs begin, less how many end, between a message and the one before it.
        opened = [0] * (len(messages) + 1)
        stand_together = _Neighbours(messages) if merged else None
        for call, result in _pairs_of(messages, pairs):
            if call < result and (stand_together is None or stand_together(call, result)):
                opened[call + 1] += 1
                opened[result + 1] -= 1
        parted = 0
        fitting = [0] * len(messages)
        good = len(messages)
        for first in range(len(messages)):
            parted += opened[first]
            count = len(messages) - first
            good = good if parted else count
            if count < len(messages):
                fitting[count] = good
        return cls(len(messages), fitting)

    def smallest(self, at_least: int) -> int:
        """The smallest count that is not below ``at_least`` and parts no result from its call."""
        return at_least if at_least >= self.messages else self._fitting[at_least]


def session_cut(conversations: Mapping[str, Cuts], session: Cuts, at_least: int) -> dict[str, int]:
    """The ``keep_last`` of each conversation that needs one, the smallest first, so that no history is parted.

    What is said in one conversation holds for the history of the ``session`` too, where the smallest count wins
    (CONTRACT 9). So the counts go up together until the smallest fits there: then each of them, and what the session
    keeps, is the smallest that any such choice has. The session is cut too where each of its conversations is short
    enough: by the last of those ``conversations`` that this does not cut.

    Said in the order given here, one after the other, none is parted in between either.
    """
    least = at_least
    while True:
        counts = {name: cuts.smallest(least) for name, cuts in conversations.items()}
        smallest = min(counts.values(), default=least)
        fitting = session.smallest(smallest)
        if fitting == smallest:
            break
        least = fitting
    needed = {name: count for name, count in counts.items() if count < conversations[name].messages}
    if smallest < session.messages and smallest not in needed.values():
        needed[[name for name, count in counts.items() if count == smallest][-1]] = smallest
    return dict(sorted(needed.items(), key=lambda said: said[1]))


def _pairs_of(messages: Sequence[SessionTurn], pairs: Mapping[Place, Call]) -> Iterator[tuple[int, int]]:
    """The places of each call and its result, where both are among the ``messages``."""
    place_of = {turn.turn_id: place for place, turn in enumerate(messages)}
    for result, turn in enumerate(messages):
        for number in range(len(turn.invocations) if turn.role == "tool" else 0):
            answered = pairs.get(Place(turn.turn_id, number))
            call = None if answered is None else place_of.get(answered.place.turn_id)
            if call is not None:
                yield call, result


class _Neighbours:
    """Tells which messages of a merged history have only messages of their own conversations between them."""

    def __init__(self, messages: Sequence[SessionTurn]) -> None:
        self._messages = messages
        self._places: dict[str, list[int]] = {}
        for place, turn in enumerate(messages):
            self._places.setdefault(turn.conversation_id, []).append(place)

    def __call__(self, first: int, second: int) -> bool:
        own = {self._messages[place].conversation_id for place in (first, second)}
        between = (self._places[name] for name in own)
        return sum(bisect_left(places, second) - bisect_left(places, first) for places in between) == second - first
