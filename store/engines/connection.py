"""Connections to a SQLite file: opened, prepared, bounded in their waits, and their errors in the store's words.

The only module that imports sqlite3.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from typing import Any, Final

from store.engines.schema import SCHEMA_VERSION, SQLITE, stamp, tables
from store.errors import (
    DamagedDatabase,
    DatabaseLocked,
    DatabaseUnreachable,
    DiskFull,
    NewerDatabase,
    NotADatabase,
    ReadOnlyDatabase,
    StoreAnswerError,
)


class Connection(sqlite3.Connection):
    """sqlite3's own, with the one call that SQL text has not (store.engines.engine)."""

    def insert_new(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self.executemany(_insertion(table, tuple(columns)), rows)

    def body_part(self, event_key: int, start: int, size: int) -> bytes:
        with self.blobopen("events", "body", event_key, readonly=True) as body:
            if start + size > len(body):
                raise DamagedDatabase("a turn's place is outside its event")
            body.seek(start)
            return body.read(size)


SqliteError = sqlite3.Error

MEMORY: Final = ":memory:"
READ_ONLY: Final = "the database may not be written"

_BETWEEN_TRIES_S: Final = 0.01
_PRIMARY_CODE: Final = 0xFF
_KEEP_CONNECTION: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CONSTRAINT)
_LOCKED: Final = "another writer holds the database"
_FAULTS: Final[dict[int, tuple[type[StoreAnswerError], str]]] = {
    sqlite3.SQLITE_BUSY: (DatabaseLocked, _LOCKED),
    sqlite3.SQLITE_LOCKED: (DatabaseLocked, _LOCKED),
    sqlite3.SQLITE_FULL: (DiskFull, "there is no room for the write"),
    sqlite3.SQLITE_READONLY: (ReadOnlyDatabase, READ_ONLY),
    sqlite3.SQLITE_PERM: (ReadOnlyDatabase, READ_ONLY),
    sqlite3.SQLITE_CANTOPEN: (DatabaseUnreachable, "the database cannot be opened"),
    sqlite3.SQLITE_IOERR: (DatabaseUnreachable, "the database cannot be read or written"),
    sqlite3.SQLITE_PROTOCOL: (DatabaseUnreachable, "the database's lock file does not work"),
    sqlite3.SQLITE_CORRUPT: (DamagedDatabase, "the database is damaged"),
    sqlite3.SQLITE_NOTADB: (NotADatabase, "the file is not a SQLite database"),
}


@cache
def _insertion(table: str, columns: tuple[str, ...]) -> str:
    marks = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - names of ours


def connect(path: str, timeout_s: float) -> Connection:
    """A connection whose statements wait for other processes up to ``timeout_s`` each."""
    # Threads share connections, one at a time: the writer under the lock, a reader while it is out of the pool.
    return sqlite3.connect(
        path,
        timeout=timeout_s,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=128,
        factory=Connection,
    )


class Patience:
    """How long a call waits for others: ``timeout_s``, and ``longest_s`` where it is about to migrate.

    A migration comes once in a release, and a store that does not get it cannot start: a hurried caller is not to miss
    it, and what it takes is no wait.
    """

    def __init__(self, timeout_s: float, longest_s: float, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._longest_s = longest_s
        self._end = clock() + timeout_s

    def left_s(self) -> float:
        """Never below zero."""
        return max(0.0, self._end - self._clock())

    def begin_anew(self) -> None:
        """All of the longest is left."""
        self._end = self._clock() + self._longest_s


def open_writer(path: str, *, patience: Patience, sleep: Callable[[float], None]) -> Connection:
    """A connection that may write, to a database that has our tables; waits for other processes with ``patience``.

    Raises sqlite3's errors, and NewerDatabase or NotADatabase for one that is not ours.
    """
    _make_private(path)
    _restore_modes(path)
    connection = connect(path, patience.left_s())
    try:
        while not _is_prepared(connection, patience):
            sleep(_BETWEEN_TRIES_S)
        # FULL: an acknowledged append survives power loss, not only the end of the process (sqlite.org/wal.html).
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cache_size = -8192")
        # What an erasure empties is to be gone from the file (CONTRACT 10a), wherever a row once stood.
        connection.execute("PRAGMA secure_delete = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def has_tables(path: str) -> bool:
    """Whether ``path`` is a file with tables of ours. Raises NotADatabase and NewerDatabase."""
    if not os.path.exists(path):  # noqa: PTH110 - as in _restore_modes
        return False
    with translated(), closing(connect(path, 1.0)) as connection:
        return _schema_version(connection) > 0


def wait_at_most(connection: Connection, timeout_s: float) -> None:
    """Bound what each further statement waits for another process."""
    connection.execute(f"PRAGMA busy_timeout = {max(0, int(timeout_s * 1000))}")


def may_write(path: str) -> bool:
    """Whether this process may write the file; False where it is not there."""
    return os.access(path, os.W_OK, effective_ids=True)


def fault_of(error: SqliteError) -> StoreAnswerError:
    """The store's error for one of sqlite3's."""
    found = _FAULTS.get(_primary_code(error))
    return StoreAnswerError("the database refused a statement") if found is None else found[0](found[1])


def may_lie_in_connection(error: SqliteError) -> bool:
    """Whether a connection that gave this error is better dropped."""
    return _primary_code(error) not in _KEEP_CONNECTION


@contextmanager
def translated() -> Iterator[None]:
    """Raise the store's errors for sqlite3's."""
    try:
        yield
    except sqlite3.Error as error:
        raise fault_of(error) from error


def _is_prepared(connection: Connection, patience: Patience) -> bool:
    """Prepare; False where it is to be tried again: two that open a new file at once are told BUSY without a wait.

    SQLite sees that each holds the lock that the other waits for (sqlite.org/c3ref/busy_handler.html).
    """
    try:
        _prepare(connection, patience)
    except sqlite3.OperationalError as error:
        if _primary_code(error) != sqlite3.SQLITE_BUSY or not patience.left_s():
            raise
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        return False
    return True


def _make_private(path: str) -> None:
    """Make a new file that its owner alone may read: SQLite makes one that everybody may.

    Whoever wants to share one gives an empty file the mode that it is to have.
    """
    # FileExistsError: the usual case. What else is wrong with the path, SQLite says when it opens it.
    with suppress(OSError):
        if path != MEMORY:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _restore_modes(path: str) -> None:
    """Give the files beside a database its mode again where it may be written and they may not.

    SQLite makes them with the mode that the database has at that moment. One made while it was read-only would keep it
    read-only, and no connection can delete such a file.
    """
    if path == MEMORY or not may_write(path):
        return
    for beside in (f"{path}-wal", f"{path}-shm"):
        # FileNotFoundError: the usual case. PermissionError: another user's file, and SQLite will say what it means.
        with suppress(OSError):
            if not may_write(beside):
                os.chmod(beside, stat.S_IMODE(os.stat(path).st_mode))  # noqa: PTH101, PTH116 - as in _identity


def _prepare(connection: Connection, patience: Patience) -> None:
    """Make the tables of a new database, migrate those of an older release; raise for one that is not ours or newer."""
    # One snapshot, or the tables that another process makes just now would look like those of another program.
    connection.execute("BEGIN")
    version = _schema_version(connection)
    connection.execute("COMMIT")
    wait_at_most(connection, patience.left_s())
    if connection.execute("PRAGMA journal_mode").fetchone()[0] not in ("wal", "memory"):
        # Waits for other processes as any statement does.
        connection.execute("PRAGMA journal_mode = WAL")
    if version == SCHEMA_VERSION:
        return
    if version != 0:
        from store.engines.migrations import load

        # Before the lock: other writers wait for who holds it, and this takes a second or more.
        load()
        patience.begin_anew()
    wait_at_most(connection, patience.left_s())
    connection.execute("BEGIN IMMEDIATE")
    if _make_or_migrate(connection):
        patience.begin_anew()


def _make_or_migrate(connection: Connection) -> bool:
    """Do what is missing, and commit; whether that was a migration."""
    # Another process may have made the tables while this one waited.
    version = _schema_version(connection)
    if version == 0:
        for statement in (*tables(SQLITE), *stamp()):
            connection.execute(statement)
    elif version != SCHEMA_VERSION:
        from store.engines.migrations import upgrade

        for statement in stamp(1) if version == 1 else ():
            connection.execute(statement)
        upgrade(connection, connection, "sqlite")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("COMMIT")
    return version not in (0, SCHEMA_VERSION)


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
