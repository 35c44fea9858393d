"""Measures what the embedded store keeps on disk; run by its rows in the function's own environment.

``conversations FOLDER CAPTURES`` and ``snapshots FOLDER TURNS SNAPSHOTS`` print byte counts as JSON. A size is that of
the pages that the database uses when everything is in its file (checkpoint), whatever the file itself is.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from benchmarks.envelopes import LongSession, TenTurns
from benchmarks.payloads import compact, conversation
from benchmarks.stores import appending, read
from store.urls import open_store


class Size(NamedTuple):
    """Bytes of a database: all of its tables and indexes, and each."""

    total: int
    parts: dict[str, int]


def size_of(path: Path) -> Size:
    """The size of the database at ``path``, which no one else has open."""
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        sql = "SELECT name, pgsize FROM dbstat('main', 1)"
        parts = {name: int(size) for name, size in connection.execute(sql)}
        pages, free, page_size = (
            int(connection.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
    finally:
        connection.close()
    return Size((pages - free) * page_size, parts)


def stored(path: Path, writes: Iterable[bytes]) -> Size:
    """The size of a new store at ``path`` that holds ``writes``."""
    store = open_store(f"sqlite:///{path}")
    append = appending(store)
    for body in writes:
        append(read(body))
    store.close()
    return size_of(path)


def conversations(folder: Path, captures: int) -> dict[str, object]:
    """Captures of the ten-turn conversation, each in a session of its own."""
    writes = TenTurns(seed=21)
    size = stored(folder / "conversations.db", (body for _ in range(captures) for body in writes.many(1)))
    sent = conversation()["turns"]
    return {
        "turns": captures * len(sent),
        "bytes": size.total,
        "parts": size.parts,
        "json_a_turn": len(compact(sent)) / len(sent),
        "write_a_turn": len(writes.many(1)[0]) / len(sent),
    }


def snapshots(folder: Path, turns: int, count: int) -> dict[str, object]:
    """One session, sent once, as growing snapshots, and in pieces that only bring what is new."""
    session, step = LongSession(turns, seed=22), turns // count
    ends = range(step, turns + 1, step)
    sides = {
        "once": [session.write(0, turns)],
        "snapshots": (session.write(0, end) for end in ends),
        "pieces": (session.write(end - step, end) for end in ends),
    }
    sizes = {name: stored(folder / f"{name}.db", writes) for name, writes in sides.items()}
    return {
        "bytes": {name: size.total for name, size in sizes.items()},
        "parts": {name: size.parts for name, size in sizes.items()},
        "json": sum(map(len, session.turns_json())),
    }


if __name__ == "__main__":
    row, where, *numbers = sys.argv[1:]
    folder_, sizes_ = Path(where), [int(number) for number in numbers]
    print(json.dumps(conversations(folder_, *sizes_) if row == "conversations" else snapshots(folder_, *sizes_)))
