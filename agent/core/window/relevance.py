"""What a query makes of the turns of a conversation: how relevant each is, its neighbours, and a little of its worth.

An answer often stands beside the words that were asked for: a turn has its own relevance, and a part of its most
relevant neighbour's. Importance and recency decide between turns that have as much to do with the query, or nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import Final

# What a turn gives to the next one on either side; each one farther off is given so much of that.
NEIGHBOUR: Final = 0.6
FARTHER: Final = 0.5
# More of either costs answers that are old, which most are: recency is in the importance too.
IMPORTANCE: Final = 0.02
RECENCY: Final = 0.0005


def fused(relevance: Sequence[float], importance: Sequence[float]) -> list[float]:
    """The score of each turn, 0..1. ``relevance`` is 0 or more, ``importance`` 0..1, both in the order of the turns.

    Raises ValueError where they are not of the same number.
    """
    own = [each if each > 0 else 0.0 for each in relevance]
    before, behind = _given(own), _given(own[::-1])
    behind.reverse()
    lifted = list(map(add, own, map(max, before, behind)))
    best = max(lifted, default=0.0)
    scale = (1 - IMPORTANCE - RECENCY) / best if best > 0 else 0.0
    recency = RECENCY / max(1, len(own))
    scores = [
        scale * each + IMPORTANCE * worth + recency * place
        for place, (each, worth) in enumerate(zip(lifted, importance, strict=True), 1)
    ]
    # The sum may be above 1 by the last bit of a float.
    return scores if max(scores, default=0.0) <= 1 else [min(1.0, score) for score in scores]


def _given(relevance: list[float]) -> list[float]:
    """What each is given by those before it: the most that one of them gives."""
    given: list[float] = []
    carried = 0.0
    for own in relevance:
        given.append(carried)
        carried *= FARTHER
        # A call of max would be a third of the time.
        if own * NEIGHBOUR > carried:  # noqa: PLR1730 - see above
            carried = own * NEIGHBOUR
    return given
