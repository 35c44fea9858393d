"""Stores on every engine, each behind its HTTP surface."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.engines.sqlite import SqliteStore
from tests.store.engines import ENGINES, IN_PROCESS, POSTGRESQL, opened
from tests.store.surface import Surface


@pytest.fixture(params=ENGINES)
def surface(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Surface]:
    """The same tests for every engine, in process and over HTTP."""
    with opened(request.param, tmp_path) as store:
        yield store


@pytest.fixture(params=IN_PROCESS)
def in_process(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Surface]:
    """For tests that also look at the store itself."""
    with opened(request.param, tmp_path) as store:
        yield store


@pytest.fixture
def on_postgresql(tmp_path: Path) -> Iterator[Surface]:
    with opened(POSTGRESQL, tmp_path) as store:
        yield store


@pytest.fixture
def on_file(tmp_path: Path) -> Iterator[Surface]:
    """A store in ``tmp_path / "store.db"``."""
    surface = Surface(SqliteStore(tmp_path / "store.db", busy_timeout_s=0.2))
    yield surface
    surface.close()
