"""``store.upkeep.backup``: a SQLite file copied while it is in use; the drill stands in ``test_restore_drill``."""

import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from store.errors import (
    BadRequest,
    DatabaseUnreachable,
    ReadOnlyDatabase,
)
from store.upkeep.backup import BackupReport, backup, restore
from store.upkeep.verify import verify
from store.urls import open_store
from tests.store.backups import events, filled_in, is_clean, opened
from tests.store.filled import ACTOR, Filling, session
from tests.store.surface import payload, turn


@pytest.fixture
def live(tmp_path: Path) -> Path:
    return filled_in(tmp_path / "live")


def test_a_backup_is_the_whole_database_in_one_file_of_its_owners(live: Path, tmp_path: Path) -> None:
    with opened(live) as store:
        report = backup(store, tmp_path / "copy.db")
        assert isinstance(report, BackupReport)
    path = tmp_path / "copy.db"
    assert (report.bytes, stat.S_IMODE(path.stat().st_mode)) == (path.stat().st_size, 0o600)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["copy.db", "live"]
    assert events(path) == events(live)
    with opened(path) as store:
        checked = verify(store, print)
    assert (checked.findings, checked.events) == (0, report.events)


def test_writers_go_on_and_the_backup_is_of_one_moment(live: Path, tmp_path: Path) -> None:
    written, stop = [0], threading.Event()
    with opened(live) as store:
        filling = Filling(store)

        def write() -> None:
            while not stop.is_set() or written[0] < 20:
                filling.append(payload(turn(written[0] + 1, "x" * 5000), session=session(900)))
                written[0] += 1

        writer = threading.Thread(target=write)
        writer.start()
        counts = []
        for number in range(5):
            counts.append(backup(store, tmp_path / f"{number}.db").events)
            # The next one may have been in the backup already, and be counted only now.
            awaited = written[0] + 2
            while written[0] < awaited:
                stop.wait(0.001)
        stop.set()
        writer.join()
    assert counts == sorted(set(counts)), "writes went on between them"
    for number, count in enumerate(counts):
        found = events(tmp_path / f"{number}.db")
        assert len(found) == count - 1, "and one of the other tenant"
        assert is_clean(tmp_path / f"{number}.db")


def test_a_backup_is_not_written_over_a_file(live: Path, tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_text("of yesterday")
    with opened(live) as store, pytest.raises(BadRequest, match="is not written over a file"):
        backup(store, tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_text() == "of yesterday"


def test_a_backup_that_cannot_be_written_is_typed_and_leaves_nothing(live: Path, tmp_path: Path) -> None:
    with opened(live) as store:
        with pytest.raises(DatabaseUnreachable):
            backup(store, tmp_path / "none" / "copy.db")
        (tmp_path / "file").write_text("")
        with pytest.raises(DatabaseUnreachable):
            backup(store, tmp_path / "file" / "copy.db")
        with pytest.raises(ReadOnlyDatabase):
            backup(store, Path("/sys/copy.db"))


def test_what_a_killed_backup_left_is_replaced(live: Path, tmp_path: Path) -> None:
    for name in ("copy.db.part", "copy.db.part-journal"):
        (tmp_path / name).write_text("half of it")
    with opened(live) as store:
        backup(store, tmp_path / "copy.db")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["copy.db", "live"]
    assert is_clean(tmp_path / "copy.db")


def test_a_database_in_memory_has_no_backup(tmp_path: Path) -> None:
    with closing(open_store("sqlite:///:memory:")) as store, pytest.raises(BadRequest, match="in memory"):
        backup(store, tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []


def test_postgresql_is_copied_by_its_own_tool(tmp_path: Path) -> None:
    with (
        closing(open_store("postgresql+psycopg://nobody@nowhere.invalid/x")) as store,
        pytest.raises(BadRequest, match="pg_dump --format=custom --file=FILE"),
    ):
        backup(store, tmp_path / "copy.db")
    with pytest.raises(BadRequest, match="pg_restore"):
        restore(tmp_path / "x", "postgresql+psycopg://nobody@nowhere.invalid/x", ledger=None, force=True, actor=ACTOR)
