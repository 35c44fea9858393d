"""The database that a command is about: which one it is, and how it is opened and let go of.

``--store`` stands in place of ``RUVECTOR_STORE``; without either it is the embedded store that a capture from here
writes to. A command that looks after a database makes none: a mistyped path is told, and leaves no empty file behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from agent.cli.embedded_path import check_embedded_path
from agent.cli.invocation import STORE_VARIABLE as SERVICE_VARIABLE
from agent.cli.invocation import Invocation
from agent.cli.store.failures import store_failures
from agent.config import StoreAddress
from agent.errors import ConfigurationError, StoreConnectionError
from store.settings import StoreSettings

if TYPE_CHECKING:
    from store.log.event_store import EventStore

DATABASE_VARIABLE: Final = "RUVECTOR_STORE"
_SQLITE: Final = "sqlite:///"
_EMBEDDED: Final = "embedded:"
_IN_MEMORY: Final = ":memory:"


def store_environ(invocation: Invocation) -> dict[str, str]:
    """The environment with the database that the command line names, or that a capture from here writes to."""
    environ = dict(invocation.terminal.environ)
    if invocation.store is not None:
        environ[DATABASE_VARIABLE] = _url(invocation.store)
    elif not environ.get(DATABASE_VARIABLE, "").strip():
        captures_go_to = environ.get(SERVICE_VARIABLE, "").strip()
        if captures_go_to.startswith(_EMBEDDED):
            environ[DATABASE_VARIABLE] = _url(captures_go_to)
    return environ


def store_settings(invocation: Invocation) -> StoreSettings:
    """The store's settings. Raises ConfigurationError, which names ``--store`` where that was given."""
    try:
        return StoreSettings.from_env(store_environ(invocation))
    except ConfigurationError as error:
        if error.variable != DATABASE_VARIABLE or invocation.store is None:
            raise
        problem = error.message.removeprefix(f"{DATABASE_VARIABLE}: ")
        raise ConfigurationError(f"--store, in place of {DATABASE_VARIABLE}", problem) from None


def file_of(url: str) -> Path | None:
    """The file of an SQLite database; None for one that is a server, or in memory."""
    return None if is_server(url) or is_in_memory(url) else Path(url.removeprefix(_SQLITE))


def is_server(url: str) -> bool:
    """Whether ``url`` is that of a PostgreSQL database."""
    return not url.startswith(_SQLITE)


def is_in_memory(url: str) -> bool:
    """Whether ``url`` is that of a database that ends with its process."""
    return url == _SQLITE + _IN_MEMORY


def name_of(url: str) -> str:
    """The database as people know it: a path, or host and name. Never a user or a password."""
    if not is_server(url):
        return url.removeprefix(_SQLITE)
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    host = parts.netloc.rpartition("@")[2] or query.get("host", "")
    return f"{host}/{unquote(parts.path.removeprefix('/')) or query.get('dbname', '')}"


@contextmanager
def opened(url: str, *, may_be_new: bool = False) -> Iterator[EventStore]:
    """The store at ``url`` until the block ends; what it raises within leaves as errors of the agent's tree.

    Raises StoreConnectionError where no store can be, or where there is none and it may not be made.
    """
    file = file_of(url)
    if file is not None:
        if not may_be_new and not file.exists():
            raise StoreConnectionError(f"there is no store at {file}")
        check_embedded_path(StoreAddress(path=str(file)))
    # Late: the engine of a server loads its driver.
    from store.urls import open_store

    with store_failures():
        store = open_store(url)
        try:
            if not may_be_new and not store.engine.has_store():
                raise StoreConnectionError("there is no store in this database")
            yield store
        finally:
            store.close()


def _url(given: str) -> str:
    """A database as the command line names it: a URL, ``embedded:PATH``, or a path alone."""
    if not given.strip():
        raise ConfigurationError("--store", "is empty")
    if given.startswith(("http://", "https://")):
        raise ConfigurationError(
            "--store", "is the address of a server, and this is about its database: a path, or postgresql+psycopg://..."
        )
    return given if "://" in given else _SQLITE + given.removeprefix(_EMBEDDED)
