"""``store.upkeep.restore`` on SQLite files: what is put back, what is replaced, what is refused."""

import json
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from store.errors import (
    BadRequest,
    DamagedDatabase,
    DatabaseLocked,
    DatabaseUnreachable,
    NewerDatabase,
    NotADatabase,
    StoreAnswerError,
)
from store.upkeep.backup import RestoreReport, erasures, restore
from store.upkeep.beside import take_place
from tests.store.backups import copied, events, filled_in, is_clean, opened, restored
from tests.store.filled import ACTOR, Filling, folder_bytes, session
from tests.store.surface import Surface, payload, turn

RELEASES = Path(__file__).parent / "releases"


@pytest.fixture
def live(tmp_path: Path) -> Path:
    return filled_in(tmp_path / "live")


@pytest.fixture
def copy(live: Path, tmp_path: Path) -> Path:
    return copied(live, tmp_path / "copy.db")


def test_a_restore_to_a_new_place_is_the_backup(copy: Path, tmp_path: Path) -> None:
    report = restored(copy, tmp_path / "new.db", force=False)
    assert report == RestoreReport(events=len(events(copy)) + 1, erasures_applied=0)
    assert events(tmp_path / "new.db") == events(copy)
    assert is_clean(tmp_path / "new.db")
    assert stat.S_IMODE((tmp_path / "new.db").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if "new" in path.name] == ["new.db"]


def test_a_database_is_replaced_only_by_force(live: Path, copy: Path) -> None:
    before = live.read_bytes()
    with pytest.raises(BadRequest, match="force"):
        restored(copy, live, force=False)
    assert live.read_bytes() == before
    live.chmod(0o640)
    restored(copy, live)
    assert stat.S_IMODE(live.stat().st_mode) == 0o640


def test_a_restore_is_written_down_for_every_tenant(copy: Path, tmp_path: Path) -> None:
    restored(copy, tmp_path / "new.db")
    with opened(tmp_path / "new.db") as store:
        for tenant in ("default", "acme"):
            last = json.loads(store.audit(tenant=tenant)[0][-1])
            erased = [line for line in erasures(store) if b'"position"' in line]
            end = len(erased) + len(events(copy)) if tenant == "default" else 1
            assert (last["action"], last["key_name"], last["subject"]) == ("restore", "tester", f"{end}-{end}")


def test_what_the_replaced_database_erased_is_erased_without_a_ledger(live: Path, copy: Path) -> None:
    with opened(live) as store, closing(Surface(store)) as surface:
        surface.capture(payload(turn(70, "SECRET-70"), session=session(300)))
        surface.erase("session", session(300))
        surface.erase("user", "anna")
    report = restored(copy, live)
    assert report.erasures_applied == 2
    assert is_clean(live)
    with opened(live) as store, closing(Surface(store)) as surface:
        assert all(found["erased"] for found in surface.turns(session(300)))
        # The turn came and went after the backup. It is known by its tombstone alone.
        receipt = surface.capture(payload(turn(70, "SECRET-70"), turn(71), session=session(300)))
        assert receipt["turns"] == {"new": 1, "known": 0, "revised": 0, "erased": 1}
    assert b"SECRET-70" not in folder_bytes(live.parent)


def test_a_ledger_and_the_replaced_database_are_one_ledger(live: Path, copy: Path) -> None:
    with opened(live) as store, closing(Surface(store)) as surface:
        surface.erase("session", session(300))
        lines = list(erasures(store))
        surface.erase("session", session(201))
    assert restored(copy, live, lines).erasures_applied == 2
    assert restored(copy, live, lines).erasures_applied == 2
    assert is_clean(live)


def test_a_database_that_somebody_has_open_is_not_replaced(live: Path, copy: Path) -> None:
    with opened(live) as store:
        store.ping()
        with pytest.raises(DatabaseLocked, match="open"):
            restored(copy, live)
        with closing(Surface(store)) as surface:
            surface.capture(payload(turn(1, "still there"), session=session(800)))
    restored(copy, live)
    assert not any(path.name.startswith("store.db.") for path in live.parent.iterdir())


def nothing(path: Path) -> None:
    path.unlink()


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def text(path: Path) -> None:
    path.write_text("no database at all" * 1000)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def of_another_program(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as raw:
        raw.executescript("CREATE TABLE events (x); PRAGMA user_version = 2")


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40960])


def overwritten(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[8192:8200] = b"\xff" * 8
    path.write_bytes(content)


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version = 99")


SOURCES: list[tuple[Callable[[Path], None], type[StoreAnswerError]]] = [
    (nothing, BadRequest),
    (a_folder, BadRequest),
    (text, NotADatabase),
    (empty, NotADatabase),
    (of_another_program, NotADatabase),
    (cut_short, DamagedDatabase),
    (overwritten, DamagedDatabase),
    (newer, NewerDatabase),
]


@pytest.mark.parametrize(("spoil", "error"), SOURCES, ids=lambda value: value.__name__)
def test_what_is_no_whole_backup_is_refused_and_the_place_is_as_it_was(
    spoil: Callable[[Path], None], error: type[StoreAnswerError], live: Path, copy: Path
) -> None:
    before = events(live)
    spoil(copy)
    with pytest.raises(error):
        restored(copy, live)
    assert [path.name for path in live.parent.iterdir()] == ["store.db"]
    assert events(live) == before


DAMAGED: list[Callable[[Path], None]] = [text, empty, of_another_program, cut_short, overwritten, newer]


@pytest.mark.parametrize("spoil", DAMAGED, ids=lambda value: value.__name__)
def test_a_damaged_database_is_replaced_with_what_lies_beside_it(
    spoil: Callable[[Path], None], live: Path, copy: Path
) -> None:
    spoil(live)
    for suffix in ("-wal", "-shm", "-journal"):
        live.with_name(live.name + suffix).write_bytes(b"of the old one")
    restored(copy, live)
    assert [path.name for path in live.parent.iterdir()] == ["store.db"]
    assert is_clean(live)
    assert events(live) == events(copy)


def test_the_erasures_of_a_database_that_is_read_in_part_are_those_of_the_ledger(live: Path, copy: Path) -> None:
    with opened(live) as store, closing(Surface(store)) as surface:
        surface.erase("session", session(300))
        lines = list(erasures(store))
    with closing(sqlite3.connect(live)) as raw:
        (root,) = raw.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'erasures'").fetchone()
        (page,) = raw.execute("PRAGMA page_size").fetchone()
    with live.open("r+b") as database:
        database.seek((root - 1) * page)
        database.write(b"\xff" * 16)
    assert restored(copy, live, lines).erasures_applied == 1
    assert is_clean(live)


def test_a_file_whose_log_still_holds_a_part_of_it_takes_no_place(tmp_path: Path) -> None:
    for name in ("new", "new-wal", "old"):
        (tmp_path / name).write_text(name)
    with pytest.raises(DatabaseUnreachable):
        take_place(tmp_path / "new", tmp_path / "old")
    assert (tmp_path / "old").read_text() == "old"


def test_what_a_killed_restore_left_is_gone_with_the_next(live: Path, copy: Path) -> None:
    for name in ("store.db.restoring", "store.db.restoring-wal"):
        (live.parent / name).write_text("with a SECRET in it")
    restored(copy, live)
    assert [path.name for path in live.parent.iterdir()] == ["store.db"]
    assert is_clean(live)


def test_a_copy_made_by_hand_is_read_with_its_log(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with opened(tmp_path / "a" / "s.db") as store:
        Filling(store).capture(payload(turn(1)))
        for path in (tmp_path / "a").glob("s.db*"):
            shutil.copy(path, tmp_path)
    assert (tmp_path / "s.db-wal").stat().st_size > 0
    assert restored(tmp_path / "s.db", tmp_path / "new.db").events == 1
    assert is_clean(tmp_path / "new.db")


def test_a_backup_of_an_earlier_release_is_brought_up(tmp_path: Path) -> None:
    report = restored(RELEASES / "0.1.0.db", tmp_path / "new.db")
    assert report.events > 50
    assert is_clean(tmp_path / "new.db")


@pytest.mark.parametrize("target", ["sqlite:///", "sqlite:///:memory:"])
def test_a_database_in_memory_takes_no_backup(target: str, copy: Path) -> None:
    with pytest.raises(BadRequest, match="in memory"):
        restore(copy, target, ledger=None, force=True, actor=ACTOR)


def test_the_owner_of_the_database_stays_its_owner(live: Path, copy: Path) -> None:
    owner = (1234, 5678) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(live, *owner)
    restored(copy, live)
    found = live.stat()
    assert (found.st_uid, found.st_gid) == owner
