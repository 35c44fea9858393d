"""What a query makes of the turns of a conversation: how relevant each is, its neighbours, and a little of its worth.

An answer often stands beside the words that were asked for: a turn has its own relevance, and a part of its most
relevant neighbour's. Importance and recency decide between turns that have as much to do with the query, or nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

# What a neighbour gives, by its distance.
NEIGHBOURS: Final = (0.6, 0.3, 0.15)
IMPORTANCE: Final = 0.01
RECENCY: Final = 0.003


def fused(relevance: Sequence[float], importance: Sequence[float]) -> list[float]:
    """The score of each turn, 0..1. ``relevance`` is 0 or more, ``importance`` 0..1, both in the order of the turns.

    Raises ValueError where they are not of the same number.
    """
    lifted = _lifted([max(0.0, each) for each in relevance])
    count, best = len(lifted), max(lifted, default=0.0)
    scale = (1 - IMPORTANCE - RECENCY) / best if best > 0 else 0.0
    recency = RECENCY / count if count else 0.0
    return [
        min(1.0, scale * each + IMPORTANCE * min(1.0, max(0.0, worth)) + recency * place)
        for place, (each, worth) in enumerate(zip(lifted, importance, strict=True), 1)
    ]


def _lifted(relevance: list[float]) -> list[float]:
    given = [0.0] * len(relevance)
    for distance, share in enumerate(NEIGHBOURS, 1):
        after = [*relevance[distance:], *[0.0] * min(distance, len(relevance))]
        before = [*[0.0] * min(distance, len(relevance)), *relevance[: len(relevance) - min(distance, len(relevance))]]
        given = [max(have, share * one, share * other) for have, one, other in zip(given, after, before, strict=True)]
    return [own + more for own, more in zip(relevance, given, strict=True)]
