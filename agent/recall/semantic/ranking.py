"""Relevance by words and by meaning, put together: each finds what the other does not.

Names, numbers and rare words are found by BM25, another way to say it by vectors. Both are divided by their best, so
that neither drowns the other; the cosine goes by its fourth power, since half as similar is much less than half as
relevant. Weight and power were chosen on three of the five LoCoMo dialogs (docs/semantic.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

WEIGHT: Final = 0.8
POWER: Final = 4


def combined(words: Sequence[float], meaning: Sequence[float]) -> list[float]:
    """How relevant each message is, 0..1, from what BM25 gives (0 or more) and the cosines of ``Semantic.rank``.

    Both in the order of the messages. Raises ValueError where they are not of the same number.
    """
    by_words, by_meaning = _of_best(words), _of_best(meaning)
    scores = [word + WEIGHT * mean**POWER for word, mean in zip(by_words, by_meaning, strict=True)]
    return _of_best(scores)


def _of_best(scores: Sequence[float]) -> list[float]:
    best = max(scores, default=0.0)
    if best <= 0.0:
        return [0.0] * len(scores)
    return [max(score, 0.0) / best for score in scores]
