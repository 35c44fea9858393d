"""The units that a policy keeps or drops whole: exchanges, and towards the end of the conversation atoms.

The newest ``min_recent`` messages, widened to whole atoms, and the exchange of the newest user's message are told in
atoms; what is before them in exchanges. Where the border parts an exchange, its older part is one unit.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate
from operator import sub
from typing import NamedTuple

from agent.core.window.prepared import Prepared


class Grain(NamedTuple):
    """How finely units are told. ``first_alone``: the first atom is one of its own. ``in_atoms``: every atom is.

    ``marker`` is the text of markers.
    """

    min_recent: int
    marker: str
    first_alone: bool = False
    in_atoms: bool = False


@dataclass(frozen=True, slots=True)
class Units:
    """Units are numbered from 0; every list has one entry more, for what is behind the last.

    ``atoms``: the first atom of each; ``messages``: how many messages are before it; ``tokens``: those before it, of
    the messages and of the markers that stand between and within units whatever is kept; ``marker_before``: of these
    the one right before it. A gap from unit ``e`` up to ``b`` misses ``closes[b] - opens[e]`` turns, those that no
    window holds included. ``recent``: the first unit of the newest ``min_recent``. ``newest``: the unit of the newest
    user's message, which is one atom; where no user spoke the newest of all, None where there is none. ``open``: the
    one whose calls may still be answered. ``longest``: the most messages that one of them has.
    """

    grain: Grain
    atoms: list[int]
    messages: list[int]
    tokens: list[int]
    marker_before: list[int]
    opens: list[int]
    closes: list[int]
    recent: int
    newest: int | None
    open: int | None
    longest: int

    def __len__(self) -> int:
        return len(self.atoms) - 1

    def of_message(self, message: int) -> int:
        """The unit that holds a message."""
        return bisect_right(self.messages, message, 0, len(self)) - 1


def units(prepared: Prepared, grain: Grain) -> Units:
    """The units of ``prepared``, made once for each grain."""
    return prepared.once(grain, lambda: _units(prepared, grain))


def _units(prepared: Prepared, grain: Grain) -> Units:
    starts, exchanges, newest, opened = prepared.atoms
    last = len(starts) - 1
    recent = last
    if grain.min_recent and last:
        recent = bisect_right(starts, max(0, starts[-1] - grain.min_recent), 0, last) - 1
    border = 0 if grain.in_atoms or not exchanges else min(recent, exchanges[-1])
    found = exchanges[: bisect_left(exchanges, border)]
    if grain.first_alone and border > 1 and found[1:2] != [1]:
        found.insert(1, 1)
    found += range(border, last + 1)
    if newest is None and last:
        newest = last - 1
    messages = [starts[atom] for atom in found]
    tokens = [prepared.before[message] for message in messages]
    marker_before, opens, closes = [0] * len(found), messages, messages
    if prepared.lost_before:
        up_to = list(accumulate(prepared.lost_before, initial=0))
        opens = [message + up_to[atom] for message, atom in zip(messages, found, strict=True)]
        closes = [message + up_to[atom + 1] for message, atom in zip(messages, found, strict=True)]
        markers = prepared.markers(grain.marker)
        cost = [markers[lost] if lost else 0 for lost in prepared.lost_before]
        up_to = list(accumulate(cost, initial=0))
        tokens = [each + up_to[atom] for each, atom in zip(tokens, found, strict=True)]
        marker_before = [cost[atom] for atom in found]
    return Units(
        grain,
        found,
        messages,
        tokens,
        marker_before,
        opens,
        closes,
        bisect_left(found, recent),
        None if newest is None else bisect_left(found, newest),
        None if opened is None else bisect_right(found, opened, 0, len(found) - 1) - 1,
        max(map(sub, messages[1:], messages), default=0),
    )
