"""Times reads and writes of a conversation memory in Python; run by its rows in an environment that has all of it.

``history FOLDER ROUNDS TURNS``, ``growth FOLDER ROUNDS TURNS``, ``append FOLDER ROUNDS`` and ``listing FOLDER ROUNDS
SESSIONS`` print samples as JSON, one value a round. Everything is the embedded store in a file.
"""

from __future__ import annotations

import json
import random
import sqlite3
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jiter

from agent.bootstrap import store_client
from agent.config import Settings
from agent.recall.held import HeldSessions
from agent.sdk import ConversationMemory
from agent.sdk.kept_views import KeptViews
from benchmarks.envelopes import Envelopes, LongSession
from benchmarks.pairs import Act, Samples, in_turn
from benchmarks.payloads import compact, conversation
from benchmarks.store_reads import _with_sessions
from benchmarks.stores import appending, read
from store.port import Store, TurnsQuery
from store.urls import open_store

_TURNS_A_CAPTURE = 10
_SESSIONS_A_ROUND = 5
_SHORT = 100
_TURNS_A_LARGE_CAPTURE = 100
_NEWEST = 10
_APPENDS_A_ROUND = 50
_PAGE = 100
_PAGES_A_ROUND = 20


def history(folder: Path, rounds: int, turns: int) -> Samples:
    """Histories of ``turns``, which came ten at a time: as a program reads them first, and once more.

    ``bare`` are the same records out of a plain table, parsed by the standard library; ``bare_jiter`` by our parser.
    """
    path = folder / "store.db"
    store = open_store(f"sqlite:///{path}")
    sessions = [LongSession(turns, seed=41 + number) for number in range(_SESSIONS_A_ROUND)]
    for session in sessions:
        _write(store, session, 0, turns, _TURNS_A_CAPTURE)
    plain = _plain_records(folder / "plain.db", store, sessions, turns)
    names = [session.session_id for session in sessions]
    memory = ConversationMemory(path, environ={})

    def histories() -> None:
        for name in names:
            if len(memory.for_session(name).history()) != turns:
                raise RuntimeError("a history is not whole: the figure would be about something else")

    def first_read() -> Act:
        # As in a program that runs and has not met these sessions: nothing of them is held.
        memory.store.held, memory.store.views = HeldSessions(memory.store.reads), KeptViews()
        return histories

    def read_again() -> Act:
        histories()
        return histories

    def bare(loads: Callable[[bytes], Any]) -> Callable[[], Act]:
        def rows() -> None:
            for place in range(len(names)):
                found = plain.execute("SELECT json FROM records WHERE session = ? ORDER BY seq", (place,)).fetchall()
                if len([loads(text) for (text,) in found]) != turns:
                    raise RuntimeError("a table is not whole: the figure would be about something else")

        return lambda: rows

    sides = {"first": first_read, "again": read_again, "bare": bare(json.loads), "bare_jiter": bare(jiter.from_json)}
    samples = in_turn(sides, rounds=rounds, count=_SESSIONS_A_ROUND)
    memory.close()
    plain.close()
    store.close()
    return samples


def growth(folder: Path, rounds: int, turns: int) -> Samples:
    """The newest messages of a session that got one turn more: of one that had ``turns``, and of a short one."""
    path = folder / "store.db"
    store = open_store(f"sqlite:///{path}")
    memory = ConversationMemory(path, environ={})

    def growing(count: int, seed: int) -> Callable[[], Act]:
        session = LongSession(count + rounds + 1, seed)
        _write(store, session, 0, count, _TURNS_A_LARGE_CAPTURE)
        handle = memory.for_session(session.session_id)
        newest = handle.history(limit=_NEWEST)[-1].seq

        def one_more() -> Act:
            nonlocal newest
            _write(store, session, newest, newest + 1, 1)
            newest += 1

            def read_newest() -> None:
                if handle.history(limit=_NEWEST)[-1].seq != newest:
                    raise RuntimeError("the new turn is not there: the figure would be about something else")

            return read_newest

        return one_more

    sides = {"short": growing(_SHORT, seed=51), "long": growing(turns, seed=52)}
    samples = in_turn(sides, rounds=rounds, count=1)
    memory.close()
    store.close()
    return samples


def appends(folder: Path, rounds: int) -> Samples:
    """One message to a session of its own store, by a program and by the store itself from the bytes of its write."""
    memory = ConversationMemory(folder / "memory.db", environ={})
    store = open_store(f"sqlite:///{folder / 'store.db'}")
    append, envelopes = appending(store), Envelopes()
    chance = random.Random(61)
    texts = [turn["content"] for turn in conversation()["turns"] if turn["content"]]
    session, other = (str(uuid.UUID(int=chance.getrandbits(128), version=4)) for _ in range(2))
    handle = memory.for_session(session)

    def messages() -> list[dict[str, str]]:
        return [
            {"role": ("user", "assistant")[place % 2], "text": texts[place % len(texts)]}
            for place in range(_APPENDS_A_ROUND)
        ]

    def by_program() -> Act:
        said = messages()
        return lambda: [handle.append(message) for message in said]

    def by_store() -> Act:
        bodies = [envelopes.of(_capture_of(other, message, chance)) for message in messages()]
        return lambda: [append(read(body)) for body in bodies]

    samples = in_turn({"program": by_program, "store": by_store}, rounds=rounds, count=_APPENDS_A_ROUND)
    memory.close()
    store.close()
    return samples


def listing(folder: Path, rounds: int, sessions: int) -> Samples:
    """A page of the list of so many ``sessions``: the first, and the last by its cursor.

    Without their number, which costs more than a page, and the same on each.
    """
    path = folder / "many.db"
    _with_sessions(path, sessions).close()
    client = store_client(Settings.from_env({"RUVECTOR_SERVICE_URL": f"embedded:{path}"}))
    cursor = None
    for _ in range(sessions // _PAGE - 1):
        cursor = client.reads.sessions(limit=_PAGE, cursor=cursor).next_cursor

    def page(of: str | None) -> Callable[[], Act]:
        def pages() -> None:
            for _ in range(_PAGES_A_ROUND):
                if len(client.reads.sessions(limit=_PAGE, cursor=of).sessions) != _PAGE:
                    raise RuntimeError("a page is not whole: the figure would be about something else")

        return lambda: pages

    samples = in_turn({"first": page(None), "last": page(cursor)}, rounds=rounds, count=_PAGES_A_ROUND)
    client.close()
    return samples


def _write(store: Store, session: LongSession, first: int, last: int, a_capture: int) -> None:
    append = appending(store)
    for start in range(first, last, a_capture):
        append(read(session.write(start, start + a_capture)))


def _plain_records(path: Path, store: Store, sessions: list[LongSession], turns: int) -> sqlite3.Connection:
    plain = sqlite3.connect(path, isolation_level=None)
    plain.execute("CREATE TABLE records (session INTEGER, seq INTEGER, json BLOB NOT NULL, PRIMARY KEY (session, seq))")
    plain.execute("BEGIN")
    for place, session in enumerate(sessions):
        records = store.turns(TurnsQuery(uuid.UUID(session.session_id).bytes, limit=turns))
        rows = ((place, seq, record) for seq, record in enumerate(records, 1))
        plain.executemany("INSERT INTO records VALUES (?, ?, ?)", rows)
    plain.execute("COMMIT")
    return plain


def _capture_of(session: str, message: dict[str, str], chance: random.Random) -> bytes:
    turn = {
        "turn_id": str(uuid.UUID(int=chance.getrandbits(128), version=4)),
        "role": message["role"],
        "content": message["text"],
        "timestamp": "2026-03-02T08:15:00.000000Z",
    }
    context = {"source_system": "agent.sdk"}
    return compact({"session_id": session, "conversation_id": session, "turns": [turn], "context": context})


if __name__ == "__main__":
    row, where, *numbers = sys.argv[1:]
    timed: dict[str, Callable[..., Samples]] = {
        "history": history,
        "growth": growth,
        "append": appends,
        "listing": listing,
    }
    print(json.dumps(timed[row](Path(where), *(int(number) for number in numbers))))
