"""``store.backup`` and ``store.restore`` on SQLite files; the drill stands in ``test_restore_drill``."""

import json
import os
import shutil
import sqlite3
import stat
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from store.backup import BackupReport, RestoreReport, backup, erasures, restore
from store.errors import (
    BadRequest,
    Conflict,
    DamagedDatabase,
    DatabaseLocked,
    DatabaseUnreachable,
    NewerDatabase,
    NotADatabase,
    ReadOnlyDatabase,
    StoreAnswerError,
)
from store.event_store import EventStore
from store.urls import open_store
from store.verify import verify
from tests.store.filled import ACTOR, Filling, fill, folder_bytes, session
from tests.store.surface import Surface, payload, turn, turn_id

RELEASES = Path(__file__).parent / "releases"


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def opened(path: Path) -> closing[EventStore]:
    return closing(open_store(url(path)))


@pytest.fixture
def live(tmp_path: Path) -> Path:
    """A filled database in a folder of its own."""
    folder = tmp_path / "live"
    folder.mkdir()
    with opened(folder / "store.db") as store:
        fill(store, with_golden=False)
        Filling(store, "acme").capture(payload(turn(1, "of acme")))
    return folder / "store.db"


@pytest.fixture
def copy(live: Path, tmp_path: Path) -> Path:
    """A backup of ``live``."""
    with opened(live) as store:
        backup(store, tmp_path / "copy.db")
    return tmp_path / "copy.db"


def events(path: Path) -> Any:
    with opened(path) as store, closing(Surface(store)) as surface:
        return surface.events()


def is_clean(path: Path) -> bool:
    with opened(path) as store:
        return verify(store, print).findings == 0


def restored(source: Path, target: Path, ledger: list[bytes] | None = None, *, force: bool = True) -> RestoreReport:
    return restore(source, url(target), ledger=ledger, force=force, actor=ACTOR)


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
                written[0] += 1
                filling.append(payload(turn(written[0], "x" * 5000), session=session(900)))

        writer = threading.Thread(target=write)
        writer.start()
        counts = []
        for number in range(5):
            before = written[0]
            counts.append(backup(store, tmp_path / f"{number}.db").events)
            while written[0] == before:
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


def test_the_ledger_has_a_line_for_each_erasure_of_every_tenant(live: Path) -> None:
    with opened(live) as store:
        with closing(Surface(store, tenant="acme")) as surface:
            surface.erase("turn", turn_id(1))
        lines = [json.loads(line) for line in erasures(store)]
        rows = [json.loads(row) for row in store.audit()[0]]
    assert [(line["tenant"], line["kind"]) for line in lines] == [
        *(("default", kind) for kind in ("turn", "turn", "session", "session", "user", "user", "session")),
        ("acme", "turn"),
    ]
    assert list(lines[0]) == list(LINE)
    assert (lines[0]["subject"], lines[0]["turns"], lines[0]["events"]) == (turn_id(41).replace("-", ""), 1, 2)
    assert [line["at"] for line in lines[:7]] == [row["at"] for row in rows]
    assert "carl" not in json.dumps(lines)


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
            end = len(list(erasures(store))) + len(events(copy)) if tenant == "default" else 1
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


LINE = {
    "tenant": "default",
    "position": 999,
    "kind": "turn",
    "subject": "00" * 16,
    "at": "2026-05-01T00:00:00Z",
    "key_name": "k",
    "sessions": 0,
    "turns": 0,
    "events": 0,
}
WRONG: list[Any] = [
    b"nonsense",
    b"[]",
    b"7",
    b"{}",
    {**LINE, "position": 0},
    {**LINE, "position": "1"},
    {**LINE, "position": True},
    {**LINE, "position": 2**63},
    {**LINE, "kind": "all"},
    {**LINE, "kind": ["turn"]},
    {**LINE, "subject": "00"},
    {**LINE, "subject": "zz" * 16},
    {**LINE, "subject": None},
    {**LINE, "at": "yesterday"},
    {**LINE, "at": 7},
    {**LINE, "tenant": None},
    {**LINE, "key_name": 7},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_line_that_is_none_of_a_ledger_is_named_and_stops_the_restore(wrong: Any, copy: Path, tmp_path: Path) -> None:
    line = wrong if isinstance(wrong, bytes) else json.dumps(wrong).encode()
    with pytest.raises(BadRequest, match="line 2 of the ledger"):
        restored(copy, tmp_path / "new.db", [json.dumps(LINE).encode(), line])
    assert not (tmp_path / "new.db").exists()


def test_a_ledger_of_another_history_stops_the_restore(copy: Path, tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="position 1"):
        restored(copy, tmp_path / "new.db", [json.dumps({**LINE, "position": 1}).encode()])
    assert not (tmp_path / "new.db").exists()


def test_erasures_of_a_tenant_that_the_backup_does_not_know_keep_their_positions(copy: Path, tmp_path: Path) -> None:
    lines = [json.dumps({**LINE, "tenant": "new", "position": 7, "subject": turn_id(1).replace("-", "")}).encode()]
    assert restored(copy, tmp_path / "new.db", lines).erasures_applied == 1
    with opened(tmp_path / "new.db") as store, closing(Surface(store, tenant="new")) as surface:
        receipt = surface.capture(payload(turn(1, "gone"), turn(2)))
    assert (receipt["position"], receipt["turns"]["erased"]) == (8, 1)
    assert is_clean(tmp_path / "new.db")


@pytest.fixture
def gap(copy: Path, tmp_path: Path) -> Path:
    """A restored database whose log goes on a hundred positions later, twice."""
    end = len(events(copy)) + 7
    for number in (1, 2):
        lines = [json.dumps({**LINE, "position": end + 100 * number}).encode()]
        restored(copy if number == 1 else tmp_path / "1.db", tmp_path / f"{number}.db", lines)
    return tmp_path / "2.db"


def test_positions_that_a_restore_left_empty_are_not_lost(gap: Path) -> None:
    with opened(gap) as store, closing(Surface(store)) as surface:
        assert verify(store, print).findings == 0
        position = surface.capture(payload(turn(1), session=session(700)))["position"]
        surface.capture(payload(turn(2), session=session(700)))
        assert verify(store, print).findings == 0
    with closing(sqlite3.connect(gap, isolation_level=None)) as raw:
        raw.execute("DELETE FROM events WHERE event_key & ? = ?", (2**40 - 1, position))
        raw.execute("DELETE FROM events WHERE event_key & ? = 3", (2**40 - 1,))
    found: list[Any] = []
    with opened(gap) as store:
        verify(store, found.append)
    assert [finding.subject for finding in found if finding.kind == "lost_position"] == [
        "position 3",
        f"position {position}",
    ]


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
