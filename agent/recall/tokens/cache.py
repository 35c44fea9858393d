"""Counts that are kept by what was counted: a session that grows by a turn is counted by that turn.

The key is a digest of the texts, so no content is held, an edited message is counted anew, and the same message is
counted once in whatever conversation it stands. Of a message that is its content alone, which most are, it is the hash
that Python keeps with a string, and the length: 64 bits under a key of the process, so that in a full cache two texts
share one with a chance below one in a billion, and nobody can choose two that do.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from hashlib import blake2b
from threading import Lock
from typing import Final, Protocol

from agent.core.turn import SessionTurn
from agent.core.window.counted_text import PER_MESSAGE, TextCounter, content_alone, sent
from agent.core.window.counting import Counting

# Some 300 bytes each.
MOST_COUNTS: Final = 65_536
_DIGEST_BYTES: Final = 16


class CountsText(Counting, Protocol):
    """A counter of messages that counts any text."""

    @property
    def text(self) -> TextCounter: ...


class CountCache:
    """At most ``most`` counts by digest, those that were asked for of late; for any number of threads.

    Two generations: where the young one is full, it takes the place of the old one, whose counts are forgotten unless
    they were asked for meanwhile. ``hits`` and ``misses`` are of all that was asked.
    """

    def __init__(self, most: int = MOST_COUNTS) -> None:
        self._half = max(1, most // 2)
        self._young: dict[Hashable, int] = {}
        self._old: dict[Hashable, int] = {}
        self._lock = Lock()
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def get(self, key: Hashable) -> int | None:
        """The count that was kept under ``key``; None where there is none."""
        with self._lock:
            found = self._young.get(key)
            if found is None:
                found = self._old.pop(key, None)
                if found is None:
                    self.misses += 1
                    return None
                self._keep(key, found)
            self.hits += 1
            return found

    def put(self, key: Hashable, tokens: int) -> None:
        """Keep ``tokens`` under ``key``."""
        with self._lock:
            self._old.pop(key, None)
            self._keep(key, tokens)

    def _keep(self, key: Hashable, tokens: int) -> None:
        if len(self._young) >= self._half and key not in self._young:
            self._old, self._young = self._young, {}
        self._young[key] = tokens


class Cached:
    """A counter whose counts are kept in ``cache``, apart from those of counters with another ``label``."""

    def __init__(self, counter: CountsText, cache: CountCache, label: str) -> None:
        self._counter = counter
        self._cache = cache
        self._label = label

    @property
    def name(self) -> str:
        return self._counter.name

    @property
    def is_exact(self) -> bool:
        return self._counter.is_exact

    @property
    def overhead(self) -> int:
        return self._counter.overhead

    def __call__(self, turn: SessionTurn) -> int:
        content = content_alone(turn)
        if content:
            key: Hashable = (hash(content), len(content), self._label)
            tokens = self._cache.get(key)
            if tokens is None:
                tokens = self._counter.text(content)
                self._cache.put(key, tokens)
            return PER_MESSAGE + tokens
        texts, around = sent(turn)
        key = _key(texts, self._label)
        tokens = self._cache.get(key)
        if tokens is None:
            tokens = sum(map(self._counter.text, texts))
            self._cache.put(key, tokens)
        return around + tokens


def _key(texts: Sequence[str], label: str) -> bytes:
    # The lengths tell where one text ends, which may hold any character.
    lengths = [len(text) for text in texts]
    together = "\n".join((f"{label}{lengths}", *texts))
    return blake2b(together.encode(errors="surrogatepass"), digest_size=_DIGEST_BYTES).digest()
