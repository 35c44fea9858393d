"""From the tables of an earlier release to those of this one: Alembic revisions, run inside the store's transaction.

Alembic and SQLAlchemy are loaded only when a migration is due: a new database is made by ``store.engines.schema`` at
once, and stamped with the revision that it has then. The caller holds the lock of writers, so two processes do not
migrate at the same time, and commits: a migration that fails leaves the database as it was.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Final

from store.engines.engine import Connection

_HERE: Final = Path(__file__).parent


def load() -> None:
    """Load what a migration needs: a second or more, which nobody is to wait for under a lock."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        # F401: for the upgrade that comes.
        import alembic.command  # noqa: F401 - as above
        import sqlalchemy.pool  # noqa: F401 - as above


def upgrade(connection: Connection, driver_connection: Any, dialect: str) -> None:
    """Run what is missing. ``driver_connection`` is sqlite3's or psycopg's; ``dialect`` as SQLAlchemy names it."""
    with warnings.catch_warnings():
        # SQLAlchemy and Alembic warn of what later releases of theirs will do.
        warnings.simplefilter("ignore", DeprecationWarning)
        from alembic import command
        from alembic.config import Config
        from sqlalchemy import create_engine
        from sqlalchemy.pool import StaticPool

        config = Config()
        config.set_main_option("script_location", str(_HERE))
        config.attributes["store"] = connection
        engine = create_engine(
            f"{dialect}://",
            creator=lambda: _Borrowed(driver_connection),
            poolclass=StaticPool,
            pool_reset_on_return=None,
            # It would ask psycopg for a type that no table has, on a connection that must be psycopg's own.
            **({} if dialect == "sqlite" else {"use_native_hstore": False}),
        )
        with engine.connect() as borrowed:
            config.attributes["connection"] = borrowed
            command.upgrade(config, "head")


class _Borrowed:
    """A connection whose transaction is not SQLAlchemy's to end."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def commit(self) -> None:
        """Left to the store."""

    def rollback(self) -> None:
        """Left to the store."""

    def close(self) -> None:
        """Left to the store."""
