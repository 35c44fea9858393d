"""Times reads of the embedded store; run by its rows in the function's own environment.

``turns FOLDER ROUNDS``, ``sessions FOLDER ROUNDS MANY`` and ``search FOLDER ROUNDS CONVERSATIONS`` print samples as
JSON, one value a round. What is read is parsed on both sides, by the same parser.
"""

from __future__ import annotations

import json
import random
import sqlite3
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import orjson

from benchmarks.envelopes import LongSession, TenTurns
from benchmarks.pairs import Act, Samples, in_turn
from benchmarks.stores import appending, getting, read
from store.port import SessionsQuery, Store, TurnsQuery
from store.urls import open_store

_TURNS = 1000
_TURNS_A_CAPTURE = 10
_FEW_SESSIONS = 100
_READS_A_ROUND = 10
_PAGES_A_ROUND = 50


def turns(folder: Path, rounds: int) -> Samples:
    """A thousand turns of one session, which came ten at a time; and the same records out of a plain table."""
    session = LongSession(_TURNS, seed=31)
    store = open_store(f"sqlite:///{folder / 'store.db'}")
    append, get = appending(store), getting(store)
    for first in range(0, _TURNS, _TURNS_A_CAPTURE):
        append(read(session.write(first, first + _TURNS_A_CAPTURE)))
    query = TurnsQuery(uuid.UUID(session.session_id).bytes, limit=_TURNS)
    plain = sqlite3.connect(folder / "plain.db", isolation_level=None)
    plain.execute("CREATE TABLE records (seq INTEGER PRIMARY KEY, json BLOB NOT NULL)")
    plain.execute("BEGIN")
    plain.executemany("INSERT INTO records VALUES (?, ?)", enumerate(store.turns(query), 1))
    plain.execute("COMMIT")

    def bare() -> int:
        rows = plain.execute("SELECT json FROM records WHERE seq > ? ORDER BY seq LIMIT ?", (0, _TURNS))
        return len([orjson.loads(text) for (text,) in rows.fetchall()])

    def records() -> int:
        return len([orjson.loads(text) for text in store.turns(query)])

    def app() -> int:
        return len(orjson.loads(get(f"/v1/sessions/{session.session_id}/turns?limit={_TURNS}"))["turns"])

    sides = {"bare": bare, "records": records, "app": app}
    samples = in_turn(
        {name: _repeated(act, _TURNS, _READS_A_ROUND) for name, act in sides.items()},
        rounds=rounds,
        count=_READS_A_ROUND,
    )
    store.close()
    plain.close()
    return samples


def sessions(folder: Path, rounds: int, many: int) -> Samples:
    """The first page of the list with a hundred sessions, and with ``many``."""
    stores = {"few": _with_sessions(folder / "few.db", _FEW_SESSIONS), "many": _with_sessions(folder / "many.db", many)}

    def page(store: Store) -> Callable[[], int]:
        get = getting(store)
        return lambda: len(orjson.loads(get("/v1/sessions?limit=100"))["sessions"])

    samples = in_turn(
        {name: _repeated(page(store), _FEW_SESSIONS, _PAGES_A_ROUND) for name, store in stores.items()},
        rounds=rounds,
        count=_PAGES_A_ROUND,
    )
    for store in stores.values():
        store.close()
    return samples


def search(folder: Path, rounds: int, conversations: int) -> Samples:
    """A page of the sessions that hold two words, by the store and by FTS5 over the same texts."""
    store = open_store(f"sqlite:///{folder / 'store.db'}")
    append = appending(store)
    plain = sqlite3.connect(folder / "fts.db", isolation_level=None)
    plain.execute("CREATE VIRTUAL TABLE texts USING fts5 (text)")
    plain.execute("CREATE TABLE sessions (id INTEGER PRIMARY KEY, activity INTEGER, json BLOB)")
    plain.execute("BEGIN")
    chance = random.Random(33)
    for number in range(conversations):
        session = LongSession(_TURNS_A_CAPTURE, seed=chance.getrandbits(32))
        append(read(session.write(0, _TURNS_A_CAPTURE)))
        text = " ".join(orjson.loads(turn)["content"] for turn in session.turns_json())
        plain.execute("INSERT INTO texts (rowid, text) VALUES (?, ?)", (number, text))
        plain.execute("INSERT INTO sessions VALUES (?, ?, ?)", (number, number, session.turns_json()[0]))
    plain.execute("COMMIT")
    query = SessionsQuery(q="cancellation baggages", limit=50)
    expected = len(store.sessions(query).sessions)
    if not expected:
        raise RuntimeError("nothing is found: the figure would be about something else")

    def ours() -> int:
        return len([orjson.loads(row) for row in store.sessions(query).sessions])

    def fts() -> int:
        sql = (
            "SELECT json FROM sessions WHERE id IN (SELECT rowid FROM texts WHERE texts MATCH ?)"
            " ORDER BY activity DESC LIMIT 50"
        )
        return len([orjson.loads(row) for (row,) in plain.execute(sql, ("cancellation baggages",)).fetchall()])

    samples = in_turn(
        {name: _repeated(act, expected, _READS_A_ROUND) for name, act in {"ours": ours, "fts": fts}.items()},
        rounds=rounds,
        count=_READS_A_ROUND,
    )
    store.close()
    plain.close()
    return samples


def _repeated(act: Callable[[], int], expected: int, count: int) -> Callable[[], Act]:
    def repeated() -> None:
        for _ in range(count):
            if act() != expected:
                raise RuntimeError("a page is not whole: the figure would be about something else")

    return lambda: repeated


def _with_sessions(path: Path, count: int) -> Store:
    """A store with a hundred real sessions, and as many rows of older ones in its tables as make ``count``."""
    store = open_store(f"sqlite:///{path}")
    append = appending(store)
    for body in TenTurns(seed=32).many(_FEW_SESSIONS):
        append(read(body))
    # A list by names writes the labels of what was appended.
    store.sessions(SessionsQuery(user_id="benchmark"))
    store.close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN")
    for place in range(1, count // _FEW_SESSIONS):
        _copy(connection, "sessions", place)
        _copy(connection, "labels", place)
    connection.execute("COMMIT")
    # As a store that has run for long has them: SQLite's planner is told nothing that it would not know then.
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return open_store(f"sqlite:///{path}")


def _copy(connection: sqlite3.Connection, table: str, place: int) -> None:
    """The first hundred sessions' rows of ``table`` once more: other ids, each copy older than the one before."""
    changed = {
        "session_key": f"session_key + {place * _FEW_SESSIONS}",
        "session_id": "randomblob(16)",
        "activity_us": f"activity_us - {place * 3_600_000_000}",
    }
    names = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
    values = ", ".join(changed.get(name, name) for name in names)
    connection.execute(
        f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM {table} WHERE session_key <= {_FEW_SESSIONS}"
    )


if __name__ == "__main__":
    row, where, *numbers = sys.argv[1:]
    timed: dict[str, Callable[..., Samples]] = {"turns": turns, "sessions": sessions, "search": search}
    print(json.dumps(timed[row](Path(where), *(int(number) for number in numbers))))
