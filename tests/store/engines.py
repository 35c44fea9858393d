"""The engines that the contract suite runs on, and what each of its tests gets: a store nobody else has written to.

In process a SQLite store is opened for each test. PostgreSQL is opened once a process and each test is a tenant of its
own there, as it is of the two servers that run in processes of theirs: what one tenant meets is what it would meet
alone (test_tenants).
"""

from __future__ import annotations

import atexit
import functools
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from store.port import Store
from store.urls import open_store
from tests.store.postgres_server import server
from tests.store.served import Served, served
from tests.store.surface import Surface

MEMORY = "sqlite in memory"
FILE = "sqlite file"
POSTGRESQL = "postgresql"
IN_PROCESS = (MEMORY, FILE, POSTGRESQL)
FILE_OVER_HTTP = "sqlite file over http"
POSTGRESQL_OVER_HTTP = "postgresql over http"
EMPTY = (MEMORY, POSTGRESQL)
ENGINES = (*IN_PROCESS, FILE_OVER_HTTP, POSTGRESQL_OVER_HTTP)

_tenants = itertools.count(1)
_servers: dict[str, Served] = {}


@contextmanager
def opened(engine: str, folder: Path) -> Iterator[Surface]:
    """An empty store on ``engine``; a file lies in ``folder``."""
    surface = _surface(engine, folder)
    try:
        yield surface
    finally:
        surface.close()


def _surface(engine: str, folder: Path) -> Surface:
    if engine == MEMORY:
        return Surface(open_store("sqlite:///:memory:"))
    if engine == FILE:
        return Surface(open_store(f"sqlite:///{folder}/store.db"))
    if engine == POSTGRESQL:
        return fresh_tenant()
    return _server_of(engine).tenant()


@contextmanager
def opened_empty(engine: str) -> Iterator[Surface]:
    """An empty store on one of EMPTY: for the many that a property needs."""
    surface = Surface(open_store("sqlite:///:memory:")) if engine == MEMORY else fresh_tenant()
    try:
        yield surface
    finally:
        surface.close()


def fresh_tenant() -> Surface:
    """A tenant of the store on PostgreSQL that nobody else is."""
    return Surface(postgresql(), tenant=f"tenant {next(_tenants)}")


@functools.cache
def postgresql() -> Store:
    """The one store on PostgreSQL that tests of this process share, each as another tenant."""
    store = open_store(server().url(server().create()))
    atexit.register(store.close)
    return store


def _server_of(engine: str) -> Served:
    """A server on ``engine`` that has a tenant to give."""
    running = _servers.get(engine)
    if running is not None and running.is_used_up:
        running.stop()
    if running is None or running.is_used_up:
        url = None if engine == FILE_OVER_HTTP else server().url(server().create())
        _servers[engine] = running = served(url)
    return running
