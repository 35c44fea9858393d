"""What a query makes of the turns of a conversation: how relevant each is, its neighbours, and a little of its worth.

An answer often stands beside the words that were asked for: a turn has its own relevance, and a part of its most
relevant neighbour's. Importance and recency decide between turns that have as much to do with the query, or nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import Final

# What a neighbour gives, by its distance.
NEIGHBOURS: Final = (0.6, 0.3, 0.15)
# More of either costs answers that are old, which most are: recency is in the importance too.
IMPORTANCE: Final = 0.02
RECENCY: Final = 0.0005


def fused(relevance: Sequence[float], importance: Sequence[float]) -> list[float]:
    """The score of each turn, 0..1. ``relevance`` is 0 or more, ``importance`` 0..1, both in the order of the turns.

    Raises ValueError where they are not of the same number.
    """
    lifted = _lifted([each if each > 0 else 0.0 for each in relevance])
    count, best = len(lifted), max(lifted, default=0.0)
    scale = (1 - IMPORTANCE - RECENCY) / best if best > 0 else 0.0
    recency = RECENCY / max(1, count)
    # The largest sum may be above 1 by the last bit of a float.
    return [
        min(1.0, scale * each + IMPORTANCE * worth + recency * place)
        for place, (each, worth) in enumerate(zip(lifted, importance, strict=True), 1)
    ]


def _lifted(relevance: list[float]) -> list[float]:
    count = len(relevance)
    given = [0.0] * count
    for distance, share in enumerate(NEIGHBOURS, 1):
        nothing = [0.0] * min(distance, count)
        nearest = map(max, relevance[distance:] + nothing, nothing + relevance[: max(0, count - distance)])
        given = list(map(max, given, [share * one for one in nearest]))
    return list(map(add, relevance, given))
