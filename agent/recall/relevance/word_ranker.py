"""The turns of one session ranked by words: an index that grows while the session only grows, and is made anew else."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from agent.core.turn import SessionTurn
from agent.core.window.marker import is_marker
from agent.recall.relevance.bm25 import Bm25Index
from agent.recall.relevance.dates import stamped

# What tells a turn from what was there before under its id.
_Seen = tuple[str, int, int, int, str | None]


class WordRanker:
    """A ranker of messages by their words. What it says depends on them and the query, and on nothing it saw before."""

    def __init__(self) -> None:
        self._index = Bm25Index()
        self._seen: list[_Seen] = []
        self._lock = threading.Lock()

    def __call__(self, messages: Sequence[SessionTurn], query: str) -> list[float]:
        """How much each of ``messages`` has to do with ``query``, 0 or more, in their order."""
        with self._lock:
            self._see(messages)
            return self._index.rank(query)

    def _see(self, messages: Sequence[SessionTurn]) -> None:
        shown = [_seen(turn) for turn in messages]
        known = len(self._seen)
        if shown[:known] != self._seen:
            self._index, known = Bm25Index(), 0
        new = messages[known:]
        self._index.extend(map(said, new), [() if turn.erased else stamped(turn.timestamp) for turn in new])
        self._seen = shown


def _seen(turn: SessionTurn) -> _Seen:
    # Of a text its hash, which it remembers: the ranker shall hold no text. Calls come and go with their results.
    return turn.turn_id, turn.version, hash(turn.content), len(turn.invocations), turn.timestamp


def said(turn: SessionTurn) -> str:
    """What of ``turn`` a query may be about: who spoke, the text, what was called and with what."""
    if turn.erased or is_marker(turn):
        return ""
    calls = (part for call in turn.invocations for part in _called(call))
    return " ".join(filter(None, (turn.agent, turn.content, *calls)))


def _called(call: Mapping[str, Any]) -> Iterator[str]:
    name, arguments = call.get("tool_name"), call.get("arguments")
    yield name if isinstance(name, str) else ""
    if isinstance(arguments, str):
        yield arguments
    elif arguments is not None:
        try:
            yield orjson.dumps(arguments).decode()
        except orjson.JSONEncodeError:
            # An integer of more than 64 bits, half a surrogate pair: nothing that anybody asks for.
            yield ""
