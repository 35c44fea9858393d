"""The tables of a store in PostgreSQL: of which release they are; made where there are none, migrated where old.

Refuses a database of another program and one of a later release.
"""

from __future__ import annotations

from typing import Final

from store.engines.postgres_connection import PostgresConnection
from store.engines.schema import POSTGRESQL, SCHEMA_VERSION, stamp, tables
from store.engines.watched_connection import WatchedConnection
from store.errors import NewerDatabase, NotADatabase

_TABLES: Final = """
SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE relkind IN ('r', 'p') AND nspname = current_schema()
"""
_STAMPED: Final = """
SELECT EXISTS (SELECT 1 FROM pg_class WHERE relname = 'alembic_version' AND pg_table_is_visible(oid))
"""


def prepare(raw: WatchedConnection, begin_writing: str) -> None:
    """Make the tables of an empty database, migrate those of an older release.

    ``begin_writing`` begins a transaction under the lock of appends, which is the caller's to commit.
    """
    found = _stamp(raw)
    if found == f"{SCHEMA_VERSION:04}":
        return
    if found is not None:
        from store.engines.migrations import load

        # Before the lock: other writers wait for who holds it, and this takes a second or more.
        load()
    raw.execute(begin_writing, prepare=False)
    # Another process may have made the tables while this one waited.
    version = schema_version(raw)
    if version == 0:
        for statement in (*tables(POSTGRESQL), *stamp()):
            raw.execute(statement)
    elif version != SCHEMA_VERSION:
        from store.engines.migrations import upgrade

        upgrade(PostgresConnection(raw), raw, "postgresql+psycopg")


def schema_version(raw: WatchedConnection) -> int:
    """0 for an empty database. Raises NewerDatabase, and NotADatabase for one of another program."""
    stamp = _stamp(raw)
    if stamp is None:
        (count,) = raw.execute(_TABLES).fetchone() or (0,)
        if not count:
            return 0
    if stamp is None or not stamp.isdecimal():
        raise NotADatabase("the database belongs to another program")
    if int(stamp) > SCHEMA_VERSION:
        raise NewerDatabase(int(stamp), SCHEMA_VERSION)
    return int(stamp)


def _stamp(raw: WatchedConnection) -> str | None:
    """The revision that a database says it has; None where it says none."""
    # By the catalogue: to_regclass may answer from before the lock was waited for.
    (there,) = raw.execute(_STAMPED).fetchone() or (False,)
    row = raw.execute("SELECT version_num FROM alembic_version").fetchone() if there else None
    return None if row is None else str(row[0])
