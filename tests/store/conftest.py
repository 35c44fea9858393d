"""A store in memory and one in a file, each behind its HTTP surface."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.sqlite import SqliteStore
from tests.store.surface import Surface


@pytest.fixture(params=["memory", "file"])
def surface(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Surface]:
    """The same tests for both places a database can be in."""
    opened = Surface(SqliteStore(":memory:" if request.param == "memory" else tmp_path / "store.db"))
    yield opened
    opened.close()


@pytest.fixture
def on_file(tmp_path: Path) -> Iterator[Surface]:
    """A store in ``tmp_path / "store.db"``."""
    opened = Surface(SqliteStore(tmp_path / "store.db", busy_timeout_s=0.2))
    yield opened
    opened.close()
