"""The store over PostgreSQL 15 or newer: psycopg 3, a pool, one writer at a time.

Appends of all processes meet at one advisory lock, which is held until the commit is done: positions grow in commit
order, so a reader of the feed waits for nobody and misses nothing. That costs no throughput that would be noticed,
since what waits is appended together (store.log.group_commit). A writer that hangs is ended by the server
(``idle_in_transaction_session_timeout``), which bounds how long the others wait; readers never do.
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
import psycopg.sql
from psycopg import errors as pg
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from store.engines.engine import Connection
from store.engines.postgres_connection import PostgresConnection, fault_of
from store.engines.schema import POSTGRESQL, SCHEMA_VERSION, stamp, tables
from store.errors import (
    DatabaseUnreachable,
    ForkedDatabase,
    NewerDatabase,
    NotADatabase,
)
from store.log.event_store import EventStore

# Any number that other programs in the same database are unlikely to lock ("ruvector" in ASCII).
_APPENDS: Final = 0x7275766563746F72
_MAX_CONNECTIONS: Final = 16
_CONNECT_TIMEOUT_S: Final = 3
_PROBE_TIMEOUT_S: Final = 1.0
# How long a writer that does not go on may hold up the others.
IDLE_WRITER_ENDS_S: Final = 10

# An acknowledged append survives the end of the server, whatever its default is; what waits, waits for so long.
_SESSION: Final = f"""
SET synchronous_commit = on;
SET idle_in_transaction_session_timeout = {IDLE_WRITER_ENDS_S * 1000};
SET client_encoding = 'UTF8';
SET TIME ZONE 'UTC'
"""
_BEGIN: Final = "BEGIN"
_BEGIN_READING: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_TABLES: Final = """
SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE relkind IN ('r', 'p') AND nspname = current_schema()
"""
_STAMPED: Final = """
SELECT EXISTS (SELECT 1 FROM pg_class WHERE relname = 'alembic_version' AND pg_table_is_visible(oid))
"""
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

    def __init__(self, url: str, *, lock_timeout_s: float = 5.0, max_connections: int = _MAX_CONNECTIONS) -> None:
        super().__init__(PostgresEngine(url, lock_timeout_s=lock_timeout_s, max_connections=max_connections))


class PostgresEngine:
    """See ``store.engines.engine.Engine``. ``lock_timeout_s`` bounds the wait for other writers and for a
    connection.
    """

    kind = "postgresql"

    def __init__(
        self,
        url: str,
        *,
        lock_timeout_s: float = 5.0,
        max_connections: int = _MAX_CONNECTIONS,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._url = url
        self._lock_timeout_s = lock_timeout_s
        self._max_connections = max_connections
        self._clock = clock
        self._sleep = sleep
        self._opening = threading.Lock()
        self._pool: ConnectionPool[Any] | None = None
        self._owner: int | None = None
        self._is_ready = False

    @contextmanager
    def writing(self, *, timeout_s: float | None = None) -> Iterator[Connection]:
        end = self._clock() + self._bounded(timeout_s)
        with self._connection(end) as raw:
            self._lock(raw, end)
            yield PostgresConnection(raw)

    @contextmanager
    def reading(self, *, timeout_s: float | None = None) -> Iterator[Connection]:
        with self._connection(self._clock() + self._bounded(timeout_s), reads_only=True) as raw:
            yield PostgresConnection(raw)

    def probe(self, *, timeout_s: float | None = None) -> None:
        """Take the lock of appends and write a row that is rolled back."""
        wait_s = _PROBE_TIMEOUT_S if timeout_s is None else min(timeout_s, _PROBE_TIMEOUT_S)
        with suppress(_Undone), self.writing(timeout_s=wait_s) as connection:
            connection.execute("INSERT INTO write_probe (filler) VALUES (?)", (b"",))
            raise _Undone

    def has_store(self) -> bool:
        try:
            with psycopg.connect(self._url, connect_timeout=_CONNECT_TIMEOUT_S, autocommit=True) as raw:
                return _schema_version(raw) > 0
        except psycopg.Error as error:
            raise fault_of(error) from error

    def scrub(self, *, at_most_bytes: int | None = None) -> bool:
        """``VACUUM FULL``: tables with content are written anew with their indexes, and all others wait meanwhile.

        It copies rows that an open transaction may still see, so while one looks back nothing is rewritten.

        PostgreSQL zeroes nothing that it frees, so until then old rows can be read in the files. Write-ahead logs,
        backups and replicas are not touched: see docs/store.md.
        """
        with self._connection(self._clock() + self._lock_timeout_s, autocommit=True) as raw:
            (size,) = raw.execute(_SIZE, (list(_WITH_CONTENT),)).fetchone()
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
        if self._pool is None:
            return 0, 0
        stats = self._pool.get_stats()
        idle = stats.get("pool_available", 0)
        return stats.get("pool_size", 0) - idle, idle

    def close(self) -> None:
        with self._opening:
            pool, self._pool, self._is_ready = self._pool, None, False
            if pool is not None and self._owner == os.getpid():
                pool.close()

    def _bounded(self, timeout_s: float | None) -> float:
        return self._lock_timeout_s if timeout_s is None else min(max(timeout_s, 0.0), self._lock_timeout_s)

    @contextmanager
    def _connection(self, end: float, *, reads_only: bool = False, autocommit: bool = False) -> Iterator[Any]:
        """A connection in a transaction; the errors of psycopg and of its pool in the store's words."""
        try:
            pool = self._ready_pool(end)
            begin = _BEGIN_READING if reads_only else _BEGIN
            with _taken(pool, max(0.0, end - self._clock()), None if autocommit else begin) as raw:
                if autocommit:
                    raw.execute("SET lock_timeout = 0")
                    yield raw
                    return
                try:
                    yield raw
                    raw.execute("COMMIT")
                except BaseException:
                    with suppress(psycopg.Error):
                        raw.execute("ROLLBACK")
                    raise
        except (PoolTimeout, PoolClosed) as error:
            raise self._no_connection() from error
        except psycopg.Error as error:
            raise fault_of(error) from error

    def _no_connection(self) -> DatabaseUnreachable:
        """Whether the pool has none, or the server gives none: the pool itself does not say."""
        try:
            psycopg.connect(self._url, connect_timeout=_CONNECT_TIMEOUT_S).close()
        except psycopg.Error:
            return DatabaseUnreachable("the database cannot be reached, or does not let this user in")
        return DatabaseUnreachable("no connection to the database is free")

    def _ready_pool(self, end: float) -> ConnectionPool[Any]:
        pool = self._pool
        if pool is not None and self._is_ready:
            if self._owner != os.getpid():
                raise ForkedDatabase("the store was opened before this process forked: open one in each process")
            return pool
        with self._opening:
            if self._pool is None:
                self._owner = os.getpid()
                self._pool = ConnectionPool(
                    self._url,
                    min_size=0,
                    max_size=self._max_connections,
                    open=True,
                    configure=_configure,
                    kwargs={"autocommit": True, "connect_timeout": _CONNECT_TIMEOUT_S, "prepare_threshold": 1},
                    # Tried again by the next call, not behind its back.
                    reconnect_timeout=0.0,
                    max_idle=300.0,
                    name="ruvector",
                )
            if not self._is_ready:
                with _taken(self._pool, max(0.0, end - self._clock())) as raw:
                    self._prepare(raw, end)
                self._is_ready = True
            return self._pool

    def _prepare(self, raw: Any, end: float) -> None:
        """Make the tables of an empty database, migrate those of an older release; under the lock of appends."""
        if _stamp(raw) == f"{SCHEMA_VERSION:04}":
            return
        raw.execute("BEGIN")
        try:
            self._lock(raw, end)
            # Another process may have made the tables while this one waited.
            version = _schema_version(raw)
            if version == 0:
                for statement in (*tables(POSTGRESQL), *stamp()):
                    raw.execute(statement)
            elif version != SCHEMA_VERSION:
                from store.engines.migrations import upgrade

                upgrade(PostgresConnection(raw), raw, "postgresql+psycopg")
            raw.execute("COMMIT")
        except BaseException:
            with suppress(psycopg.Error):
                raw.execute("ROLLBACK")
            raise

    def _lock(self, raw: Any, end: float) -> None:
        left_ms = max(1, int((end - self._clock()) * 1000))
        raw.execute(f"SET LOCAL lock_timeout = {left_ms}", prepare=False)
        raw.execute("SELECT pg_advisory_xact_lock(%s)", (_APPENDS,))


class _Undone(Exception):
    """Rolls a transaction back."""


def _configure(raw: Any) -> None:
    for statement in _SESSION.split(";"):
        raw.execute(statement)


@contextmanager
def _taken(pool: ConnectionPool[Any], timeout_s: float, begin: str | None = None) -> Iterator[Any]:
    """A connection of the pool, in a transaction that ``begin`` began."""
    raw = _answering(pool, max(timeout_s, 0.001), begin)
    try:
        yield raw
    finally:
        pool.putconn(raw)


def _answering(pool: ConnectionPool[Any], timeout_s: float, begin: str | None) -> Any:
    """A connection that the server has not closed meanwhile; those that it has are replaced."""
    while True:
        raw = pool.getconn(timeout=timeout_s)
        try:
            if not raw.closed and not _was_told(raw):
                if begin is not None:
                    raw.execute(begin)
                return raw
        except psycopg.OperationalError:
            if not raw.closed:
                pool.putconn(raw)
                raise
        # Nothing was asked of it yet that would be asked twice.
        raw.close()
        pool.putconn(raw)


def _was_told(raw: Any) -> bool:
    """Whether the server said something unasked: nearly always that it goes away."""
    waiting = select.poll()
    waiting.register(raw.fileno(), select.POLLIN)
    return bool(waiting.poll(0))


def _stamp(raw: Any) -> str | None:
    """The revision that a database says it has; None where it says none."""
    # By the catalogue: to_regclass may answer from before the lock was waited for.
    (there,) = raw.execute(_STAMPED).fetchone()
    row = raw.execute("SELECT version_num FROM alembic_version").fetchone() if there else None
    return None if row is None else str(row[0])


def _schema_version(raw: Any) -> int:
    """0 for an empty database. Raises NewerDatabase, and NotADatabase for one of another program."""
    stamp = _stamp(raw)
    if stamp is None:
        (count,) = raw.execute(_TABLES).fetchone()
        if not count:
            return 0
    if stamp is None or not stamp.isdecimal():
        raise NotADatabase("the database belongs to another program")
    if int(stamp) > SCHEMA_VERSION:
        raise NewerDatabase(int(stamp), SCHEMA_VERSION)
    return int(stamp)
