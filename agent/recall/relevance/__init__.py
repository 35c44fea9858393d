"""How much each turn of a session has to do with what is asked: by its words, and where there is a model by meaning.

Worked out by who reads, never by a capture, and held in memory alone. No text is held, and an erased turn is in no
index that is asked after its erasure was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent.core.turn import SessionTurn
from agent.recall.relevance.word_ranker import WordRanker

Ranker = Callable[[Sequence[SessionTurn], str], Sequence[float]]


def ranker_for(meaning: Ranker | None = None) -> Ranker:
    """A ranker for one session, which has seen nothing yet; it remembers what it is shown. Threads may share it.

    ``meaning``: how near messages are in meaning to a query, 0..1 (``Semantic.ranker``); None ranks by words alone.
    """
    by_words = WordRanker()
    if meaning is None:
        return by_words
    # Late: it is of the extra.
    from agent.recall.semantic.ranking import combined

    return lambda messages, query: combined(by_words(messages, query), meaning(messages, query))
