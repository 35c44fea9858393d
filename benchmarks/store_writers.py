"""Times many writers of one store; run by its rows in the function's own environment.

``URL COUNT ROUNDS`` prints samples as JSON: seconds an append takes when 32 threads append, and when one does. Beside
it, on PostgreSQL, what a bare INSERT ... ON CONFLICT of the same bytes takes with psycopg's pool; on SQLite, writing
and syncing them to a file.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import psycopg_pool

from benchmarks.envelopes import TenTurns
from benchmarks.pairs import Act, Samples, in_turn
from benchmarks.stores import appending, read
from store.urls import open_store

T = TypeVar("T")

_WRITERS = 32
_SQLITE = "sqlite:///"


def writers(url: str, count: int, rounds: int) -> Samples:
    """``count`` 10-turn captures of new sessions a round and side."""
    writes = TenTurns(seed=41)
    store = open_store(url)
    append = appending(store)
    with contextlib.ExitStack() as stack:
        stack.callback(store.close)
        threads = stack.enter_context(ThreadPoolExecutor(_WRITERS))
        bare = stack.enter_context(_file(url.removeprefix(_SQLITE)) if url.startswith(_SQLITE) else _inserting(url))

        def shared(act: Callable[[T], object], made: Callable[[list[bytes]], list[T]]) -> Callable[[], Act]:
            def act_of_round() -> Act:
                things = made(writes.many(count))
                return lambda: _all_of(threads, act, things)

            return act_of_round

        def one_writer() -> Act:
            bodies = writes.many(count)
            return lambda: [append(read(body)) for body in bodies]

        def as_sent(bodies: list[bytes]) -> list[bytes]:
            return bodies

        sides = {
            "bare": shared(bare, as_sent),
            "from_bytes": shared(lambda body: append(read(body)), as_sent),
            "alone": shared(append, lambda bodies: [read(body) for body in bodies]),
            "one_writer": one_writer,
        }
        return in_turn(sides, rounds=rounds, count=count)


def _all_of(threads: ThreadPoolExecutor, act: Callable[[T], object], things: list[T]) -> None:
    """Each thread takes the next thing as soon as it has done one. Raises what the first of them raised."""
    left, lock = iter(things), threading.Lock()

    def run() -> None:
        while True:
            with lock:
                thing = next(left, None)
            if thing is None:
                return
            act(thing)

    for ended in [threads.submit(run) for _ in range(_WRITERS)]:
        ended.result()


@contextlib.contextmanager
def _inserting(url: str) -> Iterator[Callable[[bytes], None]]:
    """The least that keeps the bytes once in PostgreSQL: one statement, committed by itself."""
    keys = itertools.count()
    plain = url.replace("postgresql+psycopg:", "postgresql:", 1)
    pool = psycopg_pool.ConnectionPool(plain, min_size=_WRITERS, max_size=_WRITERS, kwargs={"autocommit": True})
    with pool:
        pool.wait()
        with pool.connection() as connection:
            # In a schema of its own: the store refuses one that holds another program's tables.
            connection.execute("CREATE SCHEMA bare")
            connection.execute("CREATE TABLE bare.bodies (key bigint PRIMARY KEY, body bytea NOT NULL)")

        def insert(body: bytes) -> None:
            with pool.connection() as connection:
                connection.execute(
                    "INSERT INTO bare.bodies (key, body) VALUES (%s, %s) ON CONFLICT (key) DO NOTHING",
                    (next(keys), body),
                )

        yield insert


@contextlib.contextmanager
def _file(path: str) -> Iterator[Callable[[bytes], None]]:
    """The least that keeps the bytes in a file, one write after the other."""
    descriptor, lock = os.open(f"{path}.bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND), threading.Lock()

    def write(body: bytes) -> None:
        with lock:
            os.write(descriptor, body)
            os.fdatasync(descriptor)

    try:
        yield write
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    print(json.dumps(writers(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
