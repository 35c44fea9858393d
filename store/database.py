"""The SQLite file: connections, pragmas, schema version, and the translation of sqlite3's errors.

The only module that imports sqlite3. One connection writes, under a lock: threads of one process queue there, which
is fairer and faster than SQLite's busy handler (it sleeps up to 100 ms between tries); other processes meet at
``BEGIN IMMEDIATE``, with what is left of the same timeout. Readers have connections of their own from a pool.
Everything is opened on first use, in the process that uses it, and dropped after any fault, so that the next call
starts afresh.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from store.errors import (
    DamagedDatabase,
    DatabaseLocked,
    DatabaseUnreachable,
    DiskFull,
    ForkedDatabase,
    NewerDatabase,
    NotADatabase,
    NotFound,
    ReadOnlyDatabase,
    StoreAnswerError,
)
from store.schema import SCHEMA_VERSION, TABLES

Connection = sqlite3.Connection

MEMORY: Final = ":memory:"

_PRIMARY_CODE: Final = 0xFF
_KEEP_CONNECTION: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CONSTRAINT)
_READ_ONLY: Final = "the database may not be written"
_LOCKED: Final = "another writer holds the database"
_FAULTS: Final[dict[int, tuple[type[StoreAnswerError], str]]] = {
    sqlite3.SQLITE_BUSY: (DatabaseLocked, _LOCKED),
    sqlite3.SQLITE_LOCKED: (DatabaseLocked, _LOCKED),
    sqlite3.SQLITE_FULL: (DiskFull, "there is no room for the write"),
    sqlite3.SQLITE_READONLY: (ReadOnlyDatabase, _READ_ONLY),
    sqlite3.SQLITE_PERM: (ReadOnlyDatabase, _READ_ONLY),
    sqlite3.SQLITE_CANTOPEN: (DatabaseUnreachable, "the database cannot be opened"),
    sqlite3.SQLITE_IOERR: (DatabaseUnreachable, "the database cannot be read or written"),
    sqlite3.SQLITE_PROTOCOL: (DatabaseUnreachable, "the database's lock file does not work"),
    sqlite3.SQLITE_CORRUPT: (DamagedDatabase, "the database is damaged"),
    sqlite3.SQLITE_NOTADB: (NotADatabase, "the file is not a SQLite database"),
}


class Database:
    """A database file, or one in memory that lasts until ``close``.

    ``busy_timeout_s`` bounds the wait for other writers, those of this process and of others together; a call may ask
    for less by its ``timeout_s``. ``clock`` gives monotonic seconds.
    """

    def __init__(self, path: str, *, busy_timeout_s: float = 5.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._busy_timeout_s = busy_timeout_s
        self._clock = clock
        self._lock = threading.Lock()
        self._writer: Connection | None = None
        self._readers: list[Connection] = []
        self._owner: int | None = None
        self._file: tuple[int, int] | None = None
        self._writable = True
        self._timeout_s = busy_timeout_s

    @contextmanager
    def writing(self, *, timeout_s: float | None = None) -> Iterator[Connection]:
        """One transaction: committed and durable when the block ends, rolled back when it raises."""
        with self._holding(self._bounded(timeout_s)) as left_s:
            try:
                connection = self._begin(left_s)
                yield connection
                connection.execute("COMMIT")
            except sqlite3.Error as error:
                self._after(error)
                raise _fault(error) from error
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
        with _translated():
            pool, connection = self._take_reader(self._bounded(timeout_s))
        try:
            with _translated():
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
            raise ReadOnlyDatabase(_READ_ONLY)
        if self._timeout_s != timeout_s:
            _wait_at_most(connection, timeout_s)
            self._timeout_s = timeout_s
        connection.execute("BEGIN IMMEDIATE")
        return connection

    def _ready_writer(self, timeout_s: float) -> tuple[Connection, float]:
        """The writer's connection, and what is left of ``timeout_s``; the caller holds the lock."""
        self._check_owner()
        if self._moved():
            self._drop()
        if self._writer is None:
            end = self._clock() + timeout_s
            self._writer = self._open(end)
            self._owner, self._file = os.getpid(), self._identity()
            self._writable = self._path == MEMORY or _may_write(self._path)
            self._timeout_s = timeout_s = max(0.0, end - self._clock())
            _wait_at_most(self._writer, timeout_s)
        return self._writer, timeout_s

    def _take_reader(self, timeout_s: float) -> tuple[list[Connection], Connection]:
        self._check_owner()
        if self._writer is None or self._moved():
            # The writer's connection makes the file and its tables, and tells a newer or foreign one.
            with self._holding(timeout_s) as left_s:
                try:
                    _, timeout_s = self._ready_writer(left_s)
                except sqlite3.Error as error:
                    self._after(error)
                    raise
        if timeout_s < self._busy_timeout_s:
            # In no pool: the next reader may have more time.
            return [], _connect(self._path, timeout_s)
        pool = self._readers
        with suppress(IndexError):
            return pool, pool.pop()
        return pool, _connect(self._path, timeout_s)

    def _give_back(self, pool: list[Connection], connection: Connection) -> None:
        # Another list by now: the connections were dropped meanwhile, and this one may be of a file that is gone.
        if pool is self._readers:
            pool.append(connection)
        else:
            connection.close()

    def _open(self, end: float) -> Connection:
        """A connection that may write; what it waits for other processes ends at ``end``."""
        _restore_modes(self._path)
        connection = _connect(self._path, max(0.0, end - self._clock()))
        try:
            _prepare(connection, lambda: _wait_at_most(connection, end - self._clock()))
            # FULL: an acknowledged append survives power loss, not only the end of the process (sqlite.org/wal.html).
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA cache_size = -8192")
        except BaseException:
            connection.close()
            raise
        return connection

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

    def _after(self, error: sqlite3.Error) -> None:
        """Roll back; a fault that may lie in the connection costs all of them. The caller holds the lock.

        A database in memory keeps its one connection, which is all there is of it.
        """
        self._roll_back()
        if _primary_code(error) not in _KEEP_CONNECTION and self._path != MEMORY:
            self._drop()

    def _roll_back(self) -> None:
        if self._writer is not None and self._writer.in_transaction:
            with suppress(sqlite3.Error):
                self._writer.execute("ROLLBACK")

    def _drop(self) -> None:
        """Forget all connections; the caller holds the lock."""
        self._owner, self._writable = None, True
        writer, self._writer = self._writer, None
        readers, self._readers = self._readers, []
        for connection in (writer, *readers):
            if connection is not None:
                with suppress(sqlite3.Error):
                    connection.close()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise _fault(error) from error


def _connect(path: str, timeout_s: float) -> Connection:
    # Threads share connections, one at a time: the writer under the lock, a reader while it is out of the pool.
    return sqlite3.connect(path, timeout=timeout_s, isolation_level=None, check_same_thread=False, cached_statements=64)


def _wait_at_most(connection: Connection, timeout_s: float) -> None:
    """Bound what each further statement waits for another process."""
    connection.execute(f"PRAGMA busy_timeout = {max(0, int(timeout_s * 1000))}")


def _may_write(path: str) -> bool:
    return os.access(path, os.W_OK, effective_ids=True)


def _restore_modes(path: str) -> None:
    """Give the files beside a database its mode again where it may be written and they may not.

    SQLite makes them with the mode that the database has at that moment. One made while it was read-only would keep it
    read-only, and no connection can delete such a file.
    """
    if path == MEMORY or not _may_write(path):
        return
    for beside in (f"{path}-wal", f"{path}-shm"):
        # FileNotFoundError: the usual case. PermissionError: another user's file, and SQLite will say what it means.
        with suppress(OSError):
            if not _may_write(beside):
                os.chmod(beside, stat.S_IMODE(os.stat(path).st_mode))  # noqa: PTH101, PTH116 - as in _identity


def _prepare(connection: Connection, bound_wait: Callable[[], None]) -> None:
    """Make the tables of a new database; raise for one that is not ours or newer. ``bound_wait`` before each wait."""
    # One snapshot, or the tables that another process makes just now would look like those of another program.
    connection.execute("BEGIN")
    version = _schema_version(connection)
    connection.execute("COMMIT")
    bound_wait()
    if connection.execute("PRAGMA journal_mode").fetchone()[0] not in ("wal", "memory"):
        # Waits for other processes as any statement does.
        connection.execute("PRAGMA journal_mode = WAL")
    if version == SCHEMA_VERSION:
        return
    bound_wait()
    connection.execute("BEGIN IMMEDIATE")
    # Another process may have made the tables while this one waited.
    if _schema_version(connection) != SCHEMA_VERSION:
        for statement in TABLES.split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("COMMIT")


def _schema_version(connection: Connection) -> int:
    """0 for an empty database. Raises NewerDatabase, and NotADatabase for one that another program made."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise NewerDatabase(version, SCHEMA_VERSION)
    if version == 0 and connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is not None:
        raise NotADatabase("the database belongs to another program")
    return version


def _primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code (sqlite.org/rescode.html); -1 where the driver itself raised."""
    return getattr(error, "sqlite_errorcode", -1) & _PRIMARY_CODE


def _fault(error: sqlite3.Error) -> StoreAnswerError:
    found = _FAULTS.get(_primary_code(error))
    return StoreAnswerError("the database refused a statement") if found is None else found[0](found[1])
