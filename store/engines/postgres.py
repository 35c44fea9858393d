"""The store over PostgreSQL 15 or newer: psycopg 3, a pool, one writer at a time, no wait without a bound.

Appends of all processes meet at one advisory lock, which is held until the commit is done: positions grow in commit
order, so a reader of the feed waits for nobody and misses nothing. That costs no throughput that would be noticed,
since what waits is appended together (store.log.group_commit). A writer that hangs is ended by the server
(``idle_in_transaction_session_timeout``), which bounds how long the others wait; readers never do. A server that
does not answer is given up (store.engines.watched_connection).
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import psycopg
from psycopg import errors as pg

from store.engines.engine import Connection
from store.engines.postgres_connection import PostgresConnection, fault_of
from store.engines.postgres_pool import PostgresPool
from store.engines.postgres_tables import prepare, schema_version
from store.engines.watched_connection import QUIET_S, SilentDatabase, WatchedConnection
from store.errors import DatabaseLocked, ForkedDatabase
from store.log.event_store import EventStore

# Any number that other programs in the same database are unlikely to lock ("ruvector" in ASCII).
_APPENDS: Final = 0x7275766563746F72
_MAX_CONNECTIONS: Final = 16
_CONNECT_TIMEOUT_S: Final = 3
_PROBE_TIMEOUT_S: Final = 1.0
# The server ends a wait for a lock by itself: an answer that is later than this does not come.
_ANSWER_S: Final = 1.0
_PROBE_ANSWER_S: Final = 0.3
# How long a writer that does not go on may hold up the others.
IDLE_WRITER_ENDS_S: Final = 10

# An acknowledged append survives the end of the server, whatever its default is; what waits, waits for so long.
_SESSION: Final = f"""
SET synchronous_commit = on;
SET idle_in_transaction_session_timeout = {IDLE_WRITER_ENDS_S * 1000};
SET client_encoding = 'UTF8';
SET TIME ZONE 'UTC'
"""
_PID: Final = "SELECT pg_backend_pid()"
_BEGIN_READING: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# All that hold what somebody said or is called, or digests of it.
_WITH_CONTENT: Final = ("events", "sessions", "turns", "labels", "words")
_SIZE: Final = (
    "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class WHERE relname = ANY(%s) AND relkind = 'r'"
)

# Transactions that began before the transaction id. Of another role's session the server hides what kind it is.
_LOOK_BACK: Final = """
SELECT EXISTS (SELECT 1 FROM pg_stat_activity
    WHERE datid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> pg_backend_pid()
        AND (backend_type = 'client backend' OR backend_type IS NULL AND usesysid IS NOT NULL)
        AND age(backend_xmin) > age(%s::xid8::xid)
) OR EXISTS (SELECT 1 FROM pg_prepared_xacts WHERE database = current_database())
"""
_LOOKING_BACK_S: Final = 1.0
_BETWEEN_LOOKS_S: Final = 0.02


class PostgresStore(EventStore):
    """``url`` is one that libpq takes. Nothing is connected before use."""

    def __init__(
        self,
        url: str,
        *,
        lock_timeout_s: float = 5.0,
        quiet_s: float = QUIET_S,
        max_connections: int = _MAX_CONNECTIONS,
    ) -> None:
        super().__init__(
            PostgresEngine(url, lock_timeout_s=lock_timeout_s, quiet_s=quiet_s, max_connections=max_connections)
        )


class PostgresEngine:
    """See ``store.engines.engine.Engine``. ``lock_timeout_s`` bounds the wait for other writers and for a connection.

    After ``quiet_s`` without an answer the server is asked whether it still works on it.
    """

    kind = "postgresql"

    def __init__(
        self,
        url: str,
        *,
        lock_timeout_s: float = 5.0,
        quiet_s: float = QUIET_S,
        max_connections: int = _MAX_CONNECTIONS,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._url = url
        self._lock_timeout_s = lock_timeout_s
        self._quiet_s = quiet_s
        self._max_connections = max_connections
        self._clock = clock
        self._sleep = sleep
        self._opening = threading.Lock()
        self._pool: PostgresPool | None = None
        self._owner: int | None = None
        self._is_ready = False

    @contextmanager
    def writing(self, *, timeout_s: float | None = None) -> Iterator[Connection]:
        pool, end = self._ready_pool(self._bounded(timeout_s))
        with self._writing(pool, end) as connection:
            yield connection

    @contextmanager
    def reading(self, *, timeout_s: float | None = None) -> Iterator[Connection]:
        pool, end = self._ready_pool(self._bounded(timeout_s))
        with self._connection(pool, end, lambda: _BEGIN_READING) as raw:
            yield PostgresConnection(raw)

    def probe(self, *, timeout_s: float | None = None) -> None:
        """Take the lock of appends and write a row that is rolled back."""
        wait_s = _PROBE_TIMEOUT_S if timeout_s is None else min(timeout_s, _PROBE_TIMEOUT_S)
        pool, end = self._ready_pool(self._bounded(wait_s))
        with suppress(_Undone), self._writing(pool, end, due=end + _PROBE_ANSWER_S) as connection:
            connection.execute("INSERT INTO write_probe (filler) VALUES (?)", (b"",))
            raise _Undone

    def has_store(self) -> bool:
        try:
            with self._connect() as raw:
                return schema_version(raw) > 0
        except psycopg.Error as error:
            raise fault_of(error) from error

    def scrub(self, *, at_most_bytes: int | None = None) -> bool:
        """``VACUUM FULL``: tables with content are written anew with their indexes, and all others wait meanwhile.

        It copies rows that an open transaction may still see, so while one looks back nothing is rewritten.

        PostgreSQL zeroes nothing that it frees, so until then old rows can be read in the files. Write-ahead logs,
        backups and replicas are not touched: see docs/store.md.
        """
        pool, end = self._ready_pool(self._lock_timeout_s)
        with self._connection(pool, end, lambda: "SET lock_timeout = 0") as raw:
            (size,) = raw.execute(_SIZE, (list(_WITH_CONTENT),)).fetchone() or (0,)
            whole = (at_most_bytes is None or size <= at_most_bytes) and self._nobody_looks_back(raw)
            for table in _WITH_CONTENT:
                raw.execute(f"VACUUM {'FULL ' if whole else ''}{table}")
            if whole:
                # What was replaced is unlinked then; who may not ask for it waits for the server's own.
                with suppress(pg.InsufficientPrivilege):
                    raw.execute("CHECKPOINT")
        return whole

    def _nobody_looks_back(self, raw: Any) -> bool:
        """Whether no transaction may still see rows as they were before now: a rewrite would copy those."""
        (now,) = raw.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text").fetchone()
        end = self._clock() + _LOOKING_BACK_S
        while raw.execute(_LOOK_BACK, (now,)).fetchone()[0]:
            if self._clock() >= end:
                return False
            self._sleep(_BETWEEN_LOOKS_S)
        return True

    def connections(self) -> tuple[int, int]:
        return (0, 0) if self._pool is None else self._pool.counts()

    def close(self) -> None:
        with self._opening:
            pool, self._pool, self._is_ready = self._pool, None, False
            if pool is not None and self._owner == os.getpid():
                pool.close()

    def _bounded(self, timeout_s: float | None) -> float:
        return self._lock_timeout_s if timeout_s is None else min(max(timeout_s, 0.0), self._lock_timeout_s)

    @contextmanager
    def _writing(self, pool: PostgresPool, end: float, due: float | None = None) -> Iterator[Connection]:
        with self._connection(pool, end, lambda: _begin_writing(end - self._clock()), due) as raw:
            yield PostgresConnection(raw)

    @contextmanager
    def _connection(
        self, pool: PostgresPool, end: float, begin: Callable[[], str], due: float | None = None
    ) -> Iterator[WatchedConnection]:
        """A connection that ``begin`` was said to by ``end``; the errors of psycopg in the store's words.

        What it began is committed when the block ends, or rolled back. By ``due`` all must be answered.
        """
        try:
            raw = self._begun(pool, end, begin, due)
            try:
                raw.due = due
                yield raw
                if not _is_idle(raw):
                    raw.execute("COMMIT")
            except BaseException:
                _roll_back(raw)
                raise
            finally:
                pool.give_back(raw)
        except SilentDatabase as error:
            # The others went the same way, and each would be waited for in its turn.
            pool.drop_idle()
            raise fault_of(error) from error
        except psycopg.Error as error:
            raise fault_of(error) from error

    def _begun(self, pool: PostgresPool, end: float, begin: Callable[[], str], due: float | None) -> WatchedConnection:
        """A connection that the server has not closed meanwhile; those that it has are replaced."""
        while True:
            raw = pool.take(end - self._clock())
            try:
                if not raw.closed and not _was_told(raw):
                    raw.due = due or max(end, self._clock()) + _ANSWER_S
                    raw.execute(begin(), prepare=False)
                    return raw
            except psycopg.OperationalError as error:
                if isinstance(error, SilentDatabase) or not raw.closed:
                    _roll_back(raw)
                    pool.give_back(raw)
                    raise
            # Nothing was asked of it yet that would be asked twice.
            raw.close()
            pool.give_back(raw)

    def _ready_pool(self, timeout_s: float) -> tuple[PostgresPool, float]:
        """The pool, over tables of this release, and until when the caller may wait for others.

        Making or migrating the tables is no wait for others: who has done it has all of its time left.
        """
        pool = self._pool
        if pool is not None and self._is_ready:
            if self._owner != os.getpid():
                raise ForkedDatabase("the store was opened before this process forked: open one in each process")
            return pool, self._clock() + timeout_s
        end = self._clock() + timeout_s
        if not self._opening.acquire(timeout=timeout_s):
            raise DatabaseLocked("another call prepares the database")
        try:
            if self._pool is None:
                self._owner = os.getpid()
                self._pool = PostgresPool(self._connect, size=self._max_connections, clock=self._clock)
            if not self._is_ready:
                with self._connection(self._pool, end, lambda: "") as raw:
                    prepare(raw, _begin_writing(self._lock_timeout_s))
                self._is_ready = True
                end = self._clock() + timeout_s
            return self._pool, end
        finally:
            self._opening.release()

    def _connect(self) -> WatchedConnection:
        """Raises psycopg.Error."""
        raw = WatchedConnection.connect(
            self._url, connect_timeout=_CONNECT_TIMEOUT_S, autocommit=True, prepare_threshold=1
        )
        try:
            raw.quiet_s = self._quiet_s
            raw.due = self._clock() + _CONNECT_TIMEOUT_S
            raw.execute(_SESSION)
            (raw.pid,) = raw.execute(_PID, prepare=False).fetchone() or (0,)
        except BaseException:
            raw.close()
            raise
        raw.due = None
        return raw


class _Undone(Exception):
    """Rolls a transaction back."""


def _begin_writing(timeout_s: float) -> str:
    """In one message: the server is asked once, and bounds the wait for other writers."""
    left_ms = max(1, int(timeout_s * 1000))
    return f"BEGIN; SET LOCAL lock_timeout = {left_ms}; SELECT pg_advisory_xact_lock({_APPENDS})"


def _is_idle(raw: WatchedConnection) -> bool:
    """Whether no transaction is open."""
    return raw.pgconn.transaction_status == psycopg.pq.TransactionStatus.IDLE


def _roll_back(raw: WatchedConnection) -> None:
    with suppress(psycopg.Error):
        if not raw.closed and not _is_idle(raw):
            raw.execute("ROLLBACK")


def _was_told(raw: Any) -> bool:
    """Whether the server said something unasked: nearly always that it goes away."""
    waiting = select.poll()
    waiting.register(raw.fileno(), select.POLLIN)
    return bool(waiting.poll(0))
