"""Counters by the name of the model: exact where its tokenizer is known and installed, else the estimator; cached."""

from __future__ import annotations

import functools
from collections.abc import Callable
from threading import Lock

from agent.core.window.counting import Counting
from agent.core.window.estimate import Estimator
from agent.recall.tokens.cache import Cached, CountCache
from agent.recall.tokens.exact import Exact, load
from agent.recall.tokens.models import limit_of


class Counters:
    """One counter for each encoding, made when it is first asked for, all with one cache; for any number of threads.

    ``exact`` loads the counter of an encoding, or gives None where there is none.
    """

    def __init__(self, counts: CountCache | None = None, exact: Callable[[str], Exact | None] = load) -> None:
        self.counts = CountCache() if counts is None else counts
        self._exact = exact
        self._by_encoding: dict[str | None, Counting] = {}
        self._lock = Lock()

    def for_model(self, model: str | None) -> Counting:
        """The counter for ``model``; None for one that is not known yet."""
        encoding = None if model is None else limit_of(model).encoding
        with self._lock:
            found = self._by_encoding.get(encoding)
            if found is None:
                found = self._by_encoding[encoding] = self._made(encoding)
            return found

    def _made(self, encoding: str | None) -> Counting:
        exact = None if encoding is None else self._exact(encoding)
        if exact is not None:
            return Cached(exact, self.counts, exact.name)
        return Cached(Estimator(encoding), self.counts, f"estimate {encoding}")


def counter_for(model: str | None) -> Counting:
    """The counter for ``model`` among those that the whole process shares; see ``Counters.for_model``."""
    return _shared().for_model(model)


@functools.cache
def _shared() -> Counters:
    return Counters()
