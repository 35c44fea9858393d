"""A page of a history, whatever its length: the newest messages, or those before or after one.

Messages are chosen by ``seq``, which a message keeps for good, and shown in the order of the history. So nobody who
pages misses one or sees one twice, while others are added; where a parent came later than what continues it, the two
orders differ, and it is the history's that a page shows.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from agent.core.turn import SessionTurn

_seq: Final = attrgetter("seq")


class Bounds(NamedTuple):
    """Which messages: at most ``limit``, with ``seq`` above ``after_seq`` and below ``before_seq``."""

    limit: int
    before_seq: int | None = None
    after_seq: int | None = None


class HistoryPage(NamedTuple):
    """Turns in the order of the history; ``has_more``: the bounds hold more of them in the direction of the walk."""

    turns: tuple[SessionTurn, ...]
    has_more: bool
    next_before_seq: int | None
    next_after_seq: int | None


def history_page(history: Sequence[SessionTurn], bounds: Bounds) -> HistoryPage:
    """The newest messages within ``bounds``; behind an ``after_seq`` the oldest: there, who pages walks onward."""
    before, after = bounds.before_seq, bounds.after_seq
    within = [turn for turn in history if (before is None or turn.seq < before) and (after is None or turn.seq > after)]
    has_more = len(within) > bounds.limit
    if has_more:
        nearest = heapq.nlargest if after is None else heapq.nsmallest
        chosen = {turn.turn_id for turn in nearest(bounds.limit, within, key=_seq)}
        within = [turn for turn in within if turn.turn_id in chosen]
    backward = has_more and after is None
    return HistoryPage(
        turns=tuple(within),
        has_more=has_more,
        next_before_seq=min(map(_seq, within)) if backward else None,
        next_after_seq=max(map(_seq, within)) if has_more and not backward else None,
    )
