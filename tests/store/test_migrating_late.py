"""A release's first start meets a database that others write to: it waits for them, and none of them loses anything."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from store.engines.schema import SCHEMA_VERSION
from store.urls import open_store
from tests.store.planted import ENGINES, SQLITE
from tests.store.postgres_server import name_in, server
from tests.store.surface import Surface, payload, turn
from tests.store.test_narrower_rows import before, database

# What store.engines.postgres locks, in every release.
LOCK_OF_APPENDS = 0x7275766563746F72


@pytest.mark.parametrize("engine", ENGINES)
def test_a_start_that_migrates_waits_for_a_writer_longer_than_a_health_answer_may(engine: str, tmp_path: Path) -> None:
    with database(engine, tmp_path) as (url, raw):
        with closing(Surface(open_store(url))) as surface:
            surface.capture(payload(turn(1)))
        before(raw, engine)
        with closing(open_store(url)) as starting, writer_of_before(engine, url, 2.0):
            starting.migrate()
        assert raw("SELECT version_num FROM alembic_version") == [(f"{SCHEMA_VERSION:04}",)]
        with closing(Surface(open_store(url))) as surface:
            assert len(surface.turns()) == 1


@contextmanager
def writer_of_before(engine: str, url: str, seconds: float) -> Iterator[None]:
    """A process of the release before, in the middle of an append that takes so long."""
    releasing: threading.Timer
    if engine == SQLITE:
        held = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None, check_same_thread=False)
        held.execute("BEGIN IMMEDIATE")
        releasing = threading.Timer(seconds, held.execute, ["COMMIT"])
    else:
        other = server().connect(name_in(url))
        other.execute("BEGIN")
        other.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK_OF_APPENDS,))
        releasing = threading.Timer(seconds, other.execute, ["COMMIT"])
    releasing.start()
    try:
        yield
    finally:
        releasing.join()
        held.close() if engine == SQLITE else other.close()
