"""The database that a restore replaces: kept from all others meanwhile, and what it erased read out of it.

It may be damaged, newer, of another program or not there at all: then it says nothing, and is replaced all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from store.engines.connection import Connection as SqliteConnection
from store.engines.connection import connect, translated
from store.engines.engine import Connection
from store.engines.schema import position_of
from store.errors import DamagedDatabase, DatabaseLocked, NotADatabase
from store.privacy import audit, erasure
from store.privacy.ledger import LedgerLine

_LINES: Final = """
SELECT tenants.name, kind, subject, erasure_key, at_us, key_name
FROM erasures JOIN tenants ON tenants.tenant = erasures.tenant ORDER BY erasure_key
"""
_BURIED: Final = """
SELECT turn_id, tenants.name FROM tombstones JOIN tenants ON tenants.tenant = tombstones.tenant
"""
_BURY: Final = """
INSERT INTO tombstones (turn_id, tenant) SELECT ?, tenant FROM tenants WHERE name = ? ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True, slots=True)
class Replaced:
    """What a database erased: its ledger, and the turns that must not come back, with their tenants' names."""

    lines: tuple[LedgerLine, ...] = ()
    buried: tuple[tuple[bytes, bytes], ...] = ()

    def bury(self, connection: Connection) -> None:
        """Write its tombstones into another database."""
        connection.executemany(_BURY, self.buried)


@contextmanager
def replaced(target: Path) -> Iterator[Replaced]:
    """Keep all others out of the database at ``target`` until the block ends.

    Raises DatabaseLocked where another connection has it open.
    """
    if not target.exists():
        yield Replaced()
        return
    with closing(connect(str(target), 0.0)) as connection:
        yield _read(connection) if _is_held(connection) else Replaced()


def _is_held(connection: SqliteConnection) -> bool:
    """Whether it is ours alone now; False where it is no readable database, and nobody can use it."""
    try:
        with translated():
            # Leaving the write-ahead log needs a database that nobody else has open, not even idle, and empties the log
            # into the file (sqlite.org/pragma.html, journal_mode).
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("BEGIN EXCLUSIVE")
    except DatabaseLocked:
        raise DatabaseLocked("another process has the database open: stop it first") from None
    except (DamagedDatabase, NotADatabase):
        return False
    return True


def _read(connection: SqliteConnection) -> Replaced:
    try:
        with translated():
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
            if not {"tenants", "erasures", "tombstones"} <= tables:
                # Of a release that erased nothing, or of another program.
                return Replaced()
            lines = tuple(map(_line, connection.execute(_LINES)))
            return Replaced(lines, tuple(connection.execute(_BURIED)))
    except DamagedDatabase:
        return Replaced()


def _line(row: Sequence[Any]) -> LedgerLine:
    tenant, kind, subject, key, at_us, key_name = row
    of = erasure.Subject(kind.decode(), subject)
    erased = erasure.LedgerRow(of, position_of(key), audit.moment(at_us), key_name.decode())
    return LedgerLine(tenant.decode(), erased)
