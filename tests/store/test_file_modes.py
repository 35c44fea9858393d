"""Who may read the files of an SQLite store: its owner, unless the file was given another mode before."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.engines.sqlite import SqliteStore
from tests.store.surface import Surface, payload, turn


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(path: Path) -> dict[str, int]:
    surface = Surface(SqliteStore(path))
    surface.capture(payload(turn(1)))
    found = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    surface.close()
    return found


def test_a_new_database_is_for_its_owner_alone_and_so_are_the_files_beside_it(tmp_path: Path) -> None:
    assert modes(tmp_path / "store.db") == {"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600}


def test_a_file_that_was_there_before_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch(mode=0o640)
    assert modes(path) == {"store.db": 0o640, "store.db-wal": 0o640, "store.db-shm": 0o640}
