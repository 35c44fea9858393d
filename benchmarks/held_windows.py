"""Windows of a session that is held: its figures, timed, and the memory that holding it takes; run by its rows.

``stats FOLDER ROUNDS TURNS`` prints samples as JSON; ``memory FOLDER TURNS`` prints bytes. The session is in the
embedded store, ten turns a capture, and is read as the read side reads it.
"""

from __future__ import annotations

import gc
import json
import sys
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.bootstrap import store_client
from agent.config import Settings
from agent.recall.context import ContextRequest, ContextSettings, session_window, window_stats
from agent.recall.opened_windows import opened_windows
from agent.recall.source import Source
from agent.recall.view import SeenSession, View
from benchmarks.envelopes import LongSession
from benchmarks.pairs import Samples, in_turn
from benchmarks.stores import appending, read
from store.urls import open_store

_A_ROUND = 20
_NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


class _Reader:
    """One session of so many turns, as it is read when it is asked for."""

    def __init__(self, folder: Path, turns: int) -> None:
        path = folder / "store.db"
        store = open_store(f"sqlite:///{path}")
        append, session = appending(store), LongSession(turns, seed=71)
        for start in range(0, turns, 10):
            append(read(session.write(start, start + 10)))
        store.close()
        self._session_id = session.session_id
        client = store_client(Settings.from_env({"RUVECTOR_SERVICE_URL": f"embedded:{path}"}))
        self._source = Source.of(client.reads)
        self.windows = opened_windows({})

    def seen(self) -> SeenSession:
        return SeenSession(self._source.held.session(self._session_id), View(), self._source)


def stats(folder: Path, rounds: int, turns: int) -> Samples:
    """The figures of the window of a session of ``turns`` that is held, its row read anew; and the row alone."""
    reader, settings = _Reader(folder, turns), ContextSettings()

    def figures() -> None:
        for _ in range(_A_ROUND):
            found = window_stats(reader.seen(), ContextRequest(), settings, reader.windows, now=_NOW)
            if found.total_messages != turns:
                raise RuntimeError("the figures are not of the whole session: they would be about something else")

    def row() -> None:
        for _ in range(_A_ROUND):
            reader.seen()

    return in_turn({"stats": lambda: figures, "row": lambda: row}, rounds=rounds, count=_A_ROUND)


def memory(folder: Path, turns: int) -> int:
    """Bytes that a held session of ``turns`` takes, its scores and its index included, all of it asked for once."""
    reader, settings = _Reader(folder, turns), ContextSettings()
    gc.collect()
    # Of what the store left free, the kernel would see nothing: Python's own allocations are counted.
    tracemalloc.start()
    for strategy in ("truncate", "importance", "relevant"):
        session_window(reader.seen(), ContextRequest(max_tokens=4000, strategy=strategy), settings, reader.windows)
    window_stats(reader.seen(), ContextRequest(), settings, reader.windows, now=_NOW)
    gc.collect()
    taken, _ = tracemalloc.get_traced_memory()
    return taken


if __name__ == "__main__":
    row, where, *numbers = sys.argv[1:]
    measured: dict[str, Callable[..., Any]] = {"stats": stats, "memory": memory}
    print(json.dumps(measured[row](Path(where), *(int(number) for number in numbers))))
