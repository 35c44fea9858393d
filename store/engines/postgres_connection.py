"""A psycopg connection as the store takes it: its SQL text, its fast insertions, its errors in the store's words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

import psycopg
import psycopg.sql
from psycopg import errors as pg

from store.engines.engine import Rows
from store.engines.watched_connection import SilentDatabase
from store.errors import (
    DamagedDatabase,
    DatabaseLocked,
    DatabaseUnreachable,
    DiskFull,
    NotADatabase,
    ReadOnlyDatabase,
    StoreAnswerError,
)

_LOCKED: Final = "another writer holds the database"
_FAULTS: Final[tuple[tuple[type[psycopg.Error], type[StoreAnswerError], str], ...]] = (
    (pg.LockNotAvailable, DatabaseLocked, _LOCKED),
    (pg.QueryCanceled, DatabaseLocked, "the database ended a statement that took too long"),
    (pg.DeadlockDetected, DatabaseLocked, _LOCKED),
    (pg.SerializationFailure, DatabaseLocked, _LOCKED),
    (pg.DiskFull, DiskFull, "there is no room for the write"),
    (pg.InsufficientResources, DatabaseUnreachable, "the database has no more connections or memory to give"),
    (pg.ReadOnlySqlTransaction, ReadOnlyDatabase, "the database may not be written"),
    (pg.InsufficientPrivilege, ReadOnlyDatabase, "this user may not do it"),
    (pg.IdleInTransactionSessionTimeout, DatabaseUnreachable, "the database ended a transaction that did not go on"),
    (pg.DataCorrupted, DamagedDatabase, "the database is damaged"),
    (pg.IndexCorrupted, DamagedDatabase, "the database is damaged"),
    (pg.UndefinedTable, NotADatabase, "the database has not our tables"),
    (SilentDatabase, DatabaseUnreachable, "the database does not answer: send it again, it is stored once"),
    (psycopg.OperationalError, DatabaseUnreachable, "the database cannot be reached"),
    (psycopg.InterfaceError, DatabaseUnreachable, "the database cannot be reached"),
)


class PostgresConnection:
    """A psycopg connection that takes the store's SQL (store.engines.engine)."""

    __slots__ = ("_raw",)

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Rows:
        rows: Rows = self._raw.execute(_translated(sql), parameters or None)
        return rows

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> None:
        with self._raw.cursor() as cursor:
            cursor.executemany(_translated(sql), list(parameters))

    def insert_new(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        # COPY takes a row at a tenth of what a statement costs.
        names = psycopg.sql.SQL(", ").join(map(psycopg.sql.Identifier, columns))
        statement = psycopg.sql.SQL("COPY {} ({}) FROM STDIN").format(psycopg.sql.Identifier(table), names)
        with self._raw.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)

    def body_part(self, event_key: int, start: int, size: int) -> bytes:
        sql = "SELECT substr(body, %s, %s) FROM events WHERE event_key = %s"
        row = self._raw.execute(sql, (start + 1, size, event_key)).fetchone()
        if row is None or len(row[0]) != size:
            raise DamagedDatabase("a turn's place is outside its event")
        return bytes(row[0])


def fault_of(error: psycopg.Error) -> StoreAnswerError:
    """The store's error for one of psycopg's, by class (SQLSTATE)."""
    for kind, fault, message in _FAULTS:
        if isinstance(error, kind):
            return fault(message)
    return StoreAnswerError("the database refused a statement")


@lru_cache(maxsize=512)
def _translated(sql: str) -> str:
    """``?`` as psycopg has it. No statement of ours holds either character in a literal."""
    return sql.replace("%", "%%").replace("?", "%s")
