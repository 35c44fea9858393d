"""The messages of a window, from what is kept: in order, with markers where turns are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agent.core.turn import SessionTurn
from agent.core.window.cutting import Outcome
from agent.core.window.marker import marker_turn
from agent.core.window.policy import Policy
from agent.core.window.prepared import Prepared


class Piece(NamedTuple):
    """Atoms from ``start`` up to ``end``, all of them kept, and how many turns are missing right before them.

    At the end of a window ``start`` and ``end`` are the number of atoms.
    """

    missing: int
    start: int
    end: int


def pieces(prepared: Prepared, outcome: Outcome) -> Iterator[Piece]:
    """What is kept, in pieces that nothing is missing in; the last one is empty and stands for the end."""
    kept, units = outcome.kept, outcome.kept.units
    lost = prepared.lost_before
    behind = 0
    for low, high in zip(kept.lows, kept.highs, strict=True):
        start, end = units.atoms[low], units.atoms[high]
        missing = units.closes[low] - units.opens[behind]
        # A marker stands before the atom that a turn is missing in: no provider takes one between call and result.
        for atom in range(start + 1, end) if lost else ():
            if lost[atom]:
                yield Piece(missing, start, atom)
                missing, start = lost[atom], atom
        yield Piece(missing, start, end)
        behind = high
    last = units.atoms[-1]
    yield Piece(units.closes[-1] - units.opens[behind], last, last)


def assembled(prepared: Prepared, policy: Policy, outcome: Outcome) -> tuple[SessionTurn, ...]:
    """The messages of the window. A marker stands right before the next message that is kept, or at the end."""
    turns, at, starts = prepared.turns, prepared.at, prepared.atoms.starts
    found: list[SessionTurn] = []
    told = 0
    for missing, start, end in pieces(prepared, outcome):
        is_end = start == end
        first = len(turns) if is_end else at[starts[start]]
        behind = len(turns) if is_end else at[starts[end] - 1] + 1
        found += (turns[place] for place in prepared.system_between(told, first))
        opens = policy.user_first and not start and not is_end and not prepared.begins_with_user
        if missing or opens:
            beside = prepared.messages[-1] if is_end else turns[first]
            found.append(marker_turn(missing, policy.marker, beside))
        found += turns[first:behind]
        told = behind
    if outcome.cut is not None:
        cut = outcome.cut.turn
        found = [cut if turn.turn_id == cut.turn_id else turn for turn in found]
    return tuple(found)
