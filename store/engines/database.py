"""One database for the threads of one process: who writes, who reads, who waits, and what is opened when.

One connection writes, under a lock: threads of one process queue there, which
is fairer and faster than SQLite's busy handler (it sleeps up to 100 ms between tries); other processes meet at
``BEGIN IMMEDIATE``, with what is left of the same timeout. Readers have connections of their own from a pool.
Everything is opened on first use, in the process that uses it, and dropped after any fault, so that the next call
starts afresh.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from store.engines.connection import (
    MEMORY,
    READ_ONLY,
    Connection,
    Patience,
    SqliteError,
    connect,
    fault_of,
    has_tables,
    may_lie_in_connection,
    may_write,
    open_writer,
    translated,
    wait_at_most,
)
from store.errors import DatabaseLocked, ForkedDatabase, NotFound, ReadOnlyDatabase

# A health answer is wanted within 2 s (CONTRACT 7), also while another writer holds the database.
_PROBE_TIMEOUT_S: Final = 0.5
_SCRUB_TIMEOUT_S: Final = 1.0
# More than the slack that a file keeps: free pages and the write-ahead log's own reuse.
_PROBE_BYTES: Final = 256 * 1024


class Database:
    """The engine of SQLite (store.engines.engine): a database file, or one in memory that lasts until ``close``.

    ``busy_timeout_s`` bounds the wait for other writers, those of this process and of others together; a call may ask
    for less by its ``timeout_s``. ``clock`` gives monotonic seconds.
    """

    kind = "embedded"

    def __init__(
        self,
        path: str,
        *,
        busy_timeout_s: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._path = path
        self._busy_timeout_s = busy_timeout_s
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._writer: Connection | None = None
        self._readers: list[Connection] = []
        self._owner: int | None = None
        self._file: tuple[int, int] | None = None
        self._writable = True
        self._timeout_s = busy_timeout_s
        self._last_write_failed = False

    @contextmanager
    def writing(self, *, timeout_s: float | None = None) -> Iterator[Connection]:
        """One transaction: committed and durable when the block ends, rolled back when it raises."""
        with self._holding(self._bounded(timeout_s)) as left_s:
            try:
                connection = self._begin(left_s)
                changes = connection.total_changes
                yield connection
                connection.execute("COMMIT")
                # Only a write that was kept tells that there is room.
                self._last_write_failed &= connection.total_changes == changes
            except SqliteError as error:
                self._after(error)
                self._last_write_failed = True
                raise fault_of(error) from error
            except BaseException:
                self._roll_back()
                raise

    @contextmanager
    def reading(self, *, timeout_s: float | None = None) -> Iterator[Connection]:
        """A connection that reads what is committed; nothing is written through it."""
        if self._path == MEMORY:
            with self.writing(timeout_s=timeout_s) as connection:
                yield connection
            return
        with translated():
            pool, connection = self._take_reader(self._bounded(timeout_s))
        try:
            with translated():
                # One snapshot for all that the block reads.
                connection.execute("BEGIN")
                yield connection
                connection.execute("COMMIT")
        except NotFound:
            connection.execute("ROLLBACK")
            self._give_back(pool, connection)
            raise
        except BaseException:
            connection.close()
            raise
        self._give_back(pool, connection)

    def probe(self, *, timeout_s: float | None = None) -> None:
        """Take the write lock; after a write that failed, write too: only that tells whether there is room again."""
        wait_s = _PROBE_TIMEOUT_S if timeout_s is None else min(timeout_s, _PROBE_TIMEOUT_S)
        failed = self._last_write_failed
        with self.writing(timeout_s=wait_s) as connection:
            if failed:
                connection.execute("INSERT INTO write_probe (filler) VALUES (zeroblob(?))", (_PROBE_BYTES,))
        if failed:
            with self.writing(timeout_s=wait_s) as connection:
                connection.execute("DELETE FROM write_probe")
            self._last_write_failed = False

    def has_store(self) -> bool:
        """Whether the file is there and has a store's tables; one in memory has them once it is used."""
        if self._path == MEMORY:
            return self._writer is not None
        return has_tables(self._path)

    def scrub(self, *, at_most_bytes: int | None = None) -> bool:
        """Write the file anew (``VACUUM``), and empty the write-ahead log into it.

        SQLite zeroes what it frees (``secure_delete``), but not the copies that a page keeps in its unused middle when
        it was split: only a rewrite takes those. False where the file was left, or where another connection still
        reads what was: then the log keeps it until the last reader is gone and this is done again.
        """
        if self._path == MEMORY:
            return True
        whole = at_most_bytes is None or os.path.getsize(self._path) <= at_most_bytes  # noqa: PTH202 - as in _identity
        with self._holding(self._busy_timeout_s) as held_s, translated():
            connection, left_s = self._ready_writer(held_s)
            # Writers wait behind this: readers that do not end soon leave it undone.
            self._timeout_s = min(left_s, _SCRUB_TIMEOUT_S)
            wait_at_most(connection, self._timeout_s)
            if whole:
                connection.execute("VACUUM")
            (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return whole and not busy

    def connections(self) -> tuple[int, int]:
        return int(self._lock.locked()), len(self._readers)

    def close(self) -> None:
        """Close what is open, but for what other threads are reading through just now."""
        with self._lock:
            if self._owner in (None, os.getpid()):
                self._drop()

    def _bounded(self, timeout_s: float | None) -> float:
        return self._busy_timeout_s if timeout_s is None else min(max(timeout_s, 0.0), self._busy_timeout_s)

    @contextmanager
    def _holding(self, timeout_s: float) -> Iterator[float]:
        """Hold the lock; gives what is then left of ``timeout_s``."""
        if not self._lock.acquire(blocking=False):
            end = self._clock() + timeout_s
            if not self._lock.acquire(timeout=timeout_s):
                raise DatabaseLocked("other writers of this process hold the database")
            timeout_s = max(0.0, end - self._clock())
        try:
            yield timeout_s
        finally:
            self._lock.release()

    def _begin(self, timeout_s: float) -> Connection:
        if not self._writable:
            # A connection stays as it was opened: perhaps the file can be written now.
            self._drop()
        connection, timeout_s = self._ready_writer(timeout_s)
        if not self._writable:
            # SQLite would begin a read transaction and refuse the first write.
            raise ReadOnlyDatabase(READ_ONLY)
        if self._timeout_s != timeout_s:
            wait_at_most(connection, timeout_s)
            self._timeout_s = timeout_s
        connection.execute("BEGIN IMMEDIATE")
        return connection

    def _ready_writer(self, timeout_s: float) -> tuple[Connection, float]:
        """The writer's connection, and what is left of ``timeout_s``; the caller holds the lock."""
        self._check_owner()
        if self._moved():
            self._drop()
        if self._writer is None:
            patience = Patience(timeout_s, self._busy_timeout_s, self._clock)
            self._writer = open_writer(self._path, patience=patience, sleep=self._sleep)
            self._owner, self._file = os.getpid(), self._identity()
            self._writable = self._path == MEMORY or may_write(self._path)
            self._timeout_s = timeout_s = patience.left_s()
            wait_at_most(self._writer, timeout_s)
        return self._writer, timeout_s

    def _take_reader(self, timeout_s: float) -> tuple[list[Connection], Connection]:
        self._check_owner()
        if self._writer is None or self._moved():
            # The writer's connection makes the file and its tables, and tells a newer or foreign one.
            with self._holding(timeout_s) as left_s:
                try:
                    _, timeout_s = self._ready_writer(left_s)
                except SqliteError as error:
                    self._after(error)
                    raise
        if timeout_s < self._busy_timeout_s:
            # In no pool: the next reader may have more time.
            return [], connect(self._path, timeout_s)
        pool = self._readers
        with suppress(IndexError):
            return pool, pool.pop()
        return pool, connect(self._path, timeout_s)

    def _give_back(self, pool: list[Connection], connection: Connection) -> None:
        # Another list by now: the connections were dropped meanwhile, and this one may be of a file that is gone.
        if pool is self._readers:
            pool.append(connection)
        else:
            connection.close()

    def _check_owner(self) -> None:
        if self._owner not in (None, os.getpid()):
            raise ForkedDatabase("the store was opened before this process forked: open one in each process")

    def _moved(self) -> bool:
        """Whether the path names another file than the one that is open, or none: appends there would be lost."""
        return self._writer is not None and self._file != self._identity()

    def _identity(self) -> tuple[int, int] | None:
        if self._path == MEMORY:
            return None
        try:
            found = os.stat(self._path)  # noqa: PTH116 - a Path costs more than the call, on each append
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _after(self, error: SqliteError) -> None:
        """Roll back; a fault that may lie in the connection costs all of them. The caller holds the lock.

        A database in memory keeps its one connection, which is all there is of it.
        """
        self._roll_back()
        if may_lie_in_connection(error) and self._path != MEMORY:
            self._drop()

    def _roll_back(self) -> None:
        if self._writer is not None and self._writer.in_transaction:
            with suppress(SqliteError):
                self._writer.execute("ROLLBACK")

    def _drop(self) -> None:
        """Forget all connections; the caller holds the lock."""
        self._owner, self._writable = None, True
        writer, self._writer = self._writer, None
        readers, self._readers = self._readers, []
        for connection in (writer, *readers):
            if connection is not None:
                with suppress(SqliteError):
                    connection.close()
