"""How a strategy fills what the base of a window leaves: contiguously from the newest, or by score.

Each runs until nothing that it may keep fits any more; what a marker costs or saves is part of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from agent.core.window.kept import Kept

RECENT: Final = "recent"
FIRST: Final = "first"
STRATEGY: Final = "strategy"
FITS: Final = "fits"


class Group(NamedTuple):
    """Units that are kept or dropped together, and the tokens of the messages of the shortest of them."""

    units: tuple[int, ...]
    tokens: int


def roll(kept: Kept, down_to: int, reason: str) -> bool:
    """Keep the units from the newest on, down to ``down_to``, until one does not fit. Whether all did."""
    start = len(kept.units)
    while start > down_to:
        if start - 1 in kept:
            start = max(down_to, kept.low_of(start - 1))
        elif kept.bars(start - 1, start):
            start -= 1
        else:
            bottom = max(down_to, kept.around(start - 1)[0], kept.above_barred(start - 1))
            lowest = kept.lowest(bottom, start)
            if lowest < start:
                kept.add(lowest, start, reason)
            if lowest > bottom:
                return False
            start = bottom
    return True


def keep_first(kept: Kept) -> None:
    """Keep the first unit, if it fits."""
    if len(kept.units) and 0 not in kept:
        kept.add(0, 1, FIRST)


def spread(kept: Kept) -> None:
    """Keep units beside those that are kept, newest first, and the newest of all, until none of them fits."""
    while _close_gaps(kept) or _keep_one_beside(kept):
        pass


def _keep_one_beside(kept: Kept) -> bool:
    for gap in kept.gaps():
        if kept.add(gap.end - 1, gap.end, STRATEGY):
            return True
        if gap.start and kept.add(gap.start, gap.start + 1, STRATEGY):
            return True
    return False


def _close_gaps(kept: Kept) -> bool:
    """Keep what is in gaps that fit whole, for a gap that is closed needs no marker. Whether any did."""
    most = kept.tokens + kept.dearest
    tokens = kept.units.tokens
    near = [gap for gap in kept.gaps() if tokens[gap.end] - tokens[gap.start] <= most]
    return sum(kept.add(gap.start, gap.end, FITS) for gap in near) > 0


def take(kept: Kept, groups: Sequence[Group]) -> None:
    """Keep ``groups`` in their order, those first of which a part is kept, until none of them fits, and no gap.

    What is kept is not given up again: seldom one of a low score, which fitted before a gap closed, keeps out one of a
    higher score that would fit without it.
    """
    linked = [group for group in groups if len(group.units) > 1 and any(unit in kept for unit in group.units)]
    pending: Sequence[Group] = [*linked, *groups] if linked else groups
    while True:
        left = _take_once(kept, pending)
        if len(left) == len(pending) and not _close_gaps(kept):
            return
        pending = left


def _take_once(kept: Kept, groups: Sequence[Group]) -> list[Group]:
    """Those of ``groups`` that did not fit; of those that did, all units are kept now."""
    left: list[Group] = []
    # What is saved where a gap closes is its marker at most.
    dearest = kept.dearest
    for group in groups:
        if group.tokens > kept.tokens + dearest or kept.messages <= 0:
            left.append(group)
            continue
        units = [unit for unit in group.units if unit not in kept]
        if units and not kept.add_all(units, STRATEGY):
            left.append(group)
    return left
