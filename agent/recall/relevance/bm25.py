"""BM25 over the turns of a session: an index that grows with it, and never holds a text.

Beside the words of a query those count that stand out in what answers it best (feedback): who asks for "pets" finds
the turtles. Own code, since the libraries build their index anew for every corpus, and bring numpy into a function of
256 MiB. A turn costs about a kilobyte.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import nlargest, nsmallest
from itertools import repeat
from typing import Final

from agent.recall.relevance.dates import named
from agent.recall.relevance.words import term, terms, words

# As in the literature; other values made no difference on the dialogs that were tuned on.
K1: Final = 1.2
B: Final = 0.75
# A question is half of common words, and no list has those of every language: the rare ones count for more.
RARE: Final = 1.5
# So many rows are taken to answer, so many of their words count, and so much beside those of the query.
_ROWS: Final = 10
_TERMS: Final = 15
_WEIGHT: Final = 0.4
# An entry is a number with the count in its lowest byte.
_BITS: Final = 8
_MOST: Final = (1 << _BITS) - 1


class Bm25Index:
    """Rows of words, numbered from 0 in the order in which they came. Not for several threads at a time."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        # By term: its rows. By row: its terms, one row behind the other, each from its start on.
        self._rows_of: list[array[int]] = []
        self._terms_in = array("I")
        self._starts = array("I", [0])
        self._lengths = array("I")
        self._norms: Sequence[float] = ()

    def __len__(self) -> int:
        return len(self._lengths)

    def extend(self, texts: Iterable[str], also: Iterable[Sequence[str]] = repeat(())) -> None:
        """Add a row for each of ``texts``. ``also``: terms that each has beside those of its text."""
        known: dict[str, int | None] = {}
        for text, beside in zip(texts, also, strict=False):
            counts: dict[int, int] = {}
            for word, count in Counter(words(text)).items():
                found = known[word] if word in known else known.setdefault(word, self._id_of(word))
                if found is not None:
                    counts[found] = counts.get(found, 0) + count
            self._add(counts, [self._id(each) for each in beside])
        self._norms = ()

    def scores(self, terms: Iterable[str]) -> list[float]:
        """BM25 of each row for ``terms``, each of which counts once; 0 where it has none of them."""
        wanted = (self._ids.get(each) for each in dict.fromkeys(terms))
        return self._scored([each for each in wanted if each is not None])

    def rank(self, query: str) -> list[float]:
        """How much each row has to do with ``query``, 0 or more; nothing where no word of it is there."""
        asked = [self._ids[each] for each in dict.fromkeys((*terms(query), *named(query))) if each in self._ids]
        scores = self._scored(asked)
        best = max(scores, default=0.0)
        if best <= 0.0:
            return scores
        beside = self._scored(self._standing_out(scores, frozenset(asked)))
        weight = _WEIGHT / (max(beside) or 1.0)
        return [score / best + weight * more for score, more in zip(scores, beside, strict=True)]

    def _id_of(self, word: str) -> int | None:
        found = term(word)
        return None if found is None else self._id(found)

    def _id(self, term: str) -> int:
        found = self._ids.setdefault(term, len(self._ids))
        if found == len(self._rows_of):
            self._rows_of.append(array("I"))
        return found

    def _add(self, counts: dict[int, int], beside: Sequence[int]) -> None:
        row = len(self._lengths) << _BITS
        rows_of, terms_in = self._rows_of, self._terms_in
        length = sum(counts.values())
        if length > _MOST:
            counts = {each: min(count, _MOST) for each, count in counts.items()}
        for each, count in counts.items():
            rows_of[each].append(row | count)
            terms_in.append(each << _BITS | count)
        for each in beside:
            if each not in counts:
                rows_of[each].append(row | 1)
        self._starts.append(len(terms_in))
        self._lengths.append(length)

    def _scored(self, wanted: Iterable[int]) -> list[float]:
        norms = self._normed()
        scores = [0.0] * len(norms)
        bits, most = _BITS, _MOST
        for each in wanted:
            rows = self._rows_of[each]
            weight = self._idf(len(rows)) * (K1 + 1)
            for entry in rows:
                count = entry & most
                row = entry >> bits
                scores[row] += weight * count / (count + norms[row])
        return scores

    def _idf(self, rows: int) -> float:
        return math.pow(math.log(1 + (len(self._lengths) - rows + 0.5) / (rows + 0.5)), RARE)

    def _normed(self) -> Sequence[float]:
        """What the length of each row makes of its counts."""
        if len(self._norms) != len(self._lengths):
            average = max(1.0, sum(self._lengths)) / len(self._lengths)
            self._norms = [K1 * (1 - B + B * length / average) for length in self._lengths]
        return self._norms

    def _standing_out(self, scores: Sequence[float], asked: frozenset[int]) -> list[int]:
        """The terms that the best rows say, and few others; none of those that were asked for."""
        weights: dict[int, float] = {}
        best = nlargest(_ROWS, [(score, row) for row, score in enumerate(scores) if score > 0.0])
        for score, row in best:
            share = score / max(1, self._lengths[row])
            for entry in self._terms_in[self._starts[row] : self._starts[row + 1]]:
                each = entry >> _BITS
                if each not in asked:
                    weights[each] = weights.get(each, 0.0) + share * (entry & _MOST)
        rows = len(self._lengths) + 1
        ranked = [(-weight * math.log(rows / len(self._rows_of[each])), each) for each, weight in weights.items()]
        return [each for _, each in nsmallest(_TERMS, ranked)]
