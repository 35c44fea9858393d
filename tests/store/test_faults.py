"""A database that cannot do it now: typed, 503 with Retry-After, nothing half written, well again without restart."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest

from store.errors import (
    DamagedDatabase,
    DatabaseLocked,
    DatabaseUnreachable,
    DiskFull,
    NewerDatabase,
    NotADatabase,
    ReadOnlyDatabase,
    StoreAnswerError,
)
from store.schema import SCHEMA_VERSION, TABLES
from store.sqlite import SqliteStore
from tests.conftest import REPOSITORY
from tests.store.surface import SESSION, Surface, envelope, payload, turn


def refused(answer: httpx.Response, message: str, retry_after: str = "5") -> None:
    assert (answer.status_code, answer.headers["retry-after"]) == (503, retry_after)
    assert (answer.json()["error"], answer.json()["message"]) == ("unavailable", message)


def unavailable(surface: Surface, message: str, retry_after: str = "5") -> None:
    """A write and the health answer are 503, both with the reason."""
    refused(surface.post(envelope(payload(turn(99)))), message, retry_after)
    health = surface.client.get("/health")
    refused(health, message, retry_after)
    assert (health.json()["status"], health.json()["kind"]) == ("unavailable", "embedded")


def well(surface: Surface, events: int) -> None:
    """Health is 200, a capture is taken, and what was refused before was not kept."""
    assert surface.client.get("/health").status_code == 200
    assert surface.capture(payload(turn(100)))["position"] == events + 1
    assert len(surface.get("/v1/decision-events")["events"]) == events + 1


def test_a_locked_database_is_503_until_the_lock_is_gone_and_readers_do_not_wait(
    on_file: Surface, tmp_path: Path
) -> None:
    on_file.capture(payload(turn(1)))
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    unavailable(on_file, "another writer holds the database", retry_after="1")
    assert len(on_file.turns()) == 1
    other.execute("ROLLBACK")
    other.close()
    well(on_file, 1)


def test_a_writer_of_this_process_that_does_not_end_is_waited_for_no_longer_than_the_timeout(on_file: Surface) -> None:
    with on_file.store._database.writing():
        answer = on_file.post(envelope(payload(turn(1))))
    refused(answer, "other writers of this process hold the database", "1")
    well(on_file, 0)


def test_a_new_file_that_another_process_holds_is_503_and_used_later(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    surface = Surface(SqliteStore(path, busy_timeout_s=0.1))
    refused(surface.post(envelope(payload(turn(1)))), "another writer holds the database", "1")
    refused(surface.client.get("/v1/decision-events"), "another writer holds the database", "1")
    other.execute("ROLLBACK")
    other.close()
    well(surface, 0)
    surface.close()


def test_a_new_file_that_another_process_reads_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    release = threading.Timer(0.2, other.execute, ["ROLLBACK"])
    release.start()
    surface = Surface(SqliteStore(path, busy_timeout_s=10))
    well(surface, 0)
    release.join()
    other.close()
    surface.close()


def test_a_full_database_is_503_until_there_is_room_again(on_file: Surface) -> None:
    on_file.capture(payload(turn(1)))
    writer = on_file.store._database._writer
    assert writer is not None
    (pages,) = writer.execute("PRAGMA page_count").fetchone()
    writer.execute(f"PRAGMA max_page_count = {pages + 1}")
    big = envelope(payload(turn(2, os.urandom(50_000).hex())))
    refused(on_file.post(big), "there is no room for the write")
    assert on_file.client.get("/health").status_code == 503, "there is room for a page, not for a write"
    assert [record["seq"] for record in on_file.turns()] == [1]
    writer.execute("PRAGMA max_page_count = 1000000")
    assert on_file.client.get("/health").status_code == 200
    assert on_file.post(big).json()["turns"]["new"] == 1
    well(on_file, 2)
    assert writer.execute("SELECT count(*) FROM write_probe").fetchone() == (0,)


FILLING = """
import os, sys
from store.errors import DiskFull
from store.sqlite import SqliteStore
from tests.store.surface import Surface, envelope, payload, turn
surface = Surface(SqliteStore(sys.argv[1] + "/store.db"))
kept = 0
while True:
    answer = surface.post(envelope(payload(turn(kept, os.urandom(30_000).hex()))))
    if answer.status_code != 201:
        break
    kept += 1
assert answer.status_code == 503, answer.text
assert answer.json()["message"] == "there is no room for the write", answer.text
assert surface.client.get("/health").status_code == 503
assert len(surface.turns(limit=1000)) == kept
surface.store.close()
assert len(surface.turns(limit=1000)) == kept
os.truncate(sys.argv[1] + "/ballast", 0)
assert surface.client.get("/health").status_code == 200
assert surface.capture(payload(turn(900)))["turns"]["new"] == 1
assert len(surface.turns(limit=1000)) == kept + 1
surface.close()
print("kept", kept)
"""


@pytest.mark.slow
def test_a_disk_that_is_really_full_loses_nothing_and_is_used_again_when_there_is_room(tmp_path: Path) -> None:
    probe = (
        subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False)
        if shutil.which("unshare")
        else None
    )
    if probe is None or probe.returncode:
        pytest.skip("no user namespaces here: a small file system cannot be mounted")
    script = 'mount -t tmpfs -o size=3m none "$1" && head -c 1000000 /dev/zero > "$1/ballast" && exec "$2" -c "$3" "$1"'
    command = ["unshare", "-rm", "sh", "-c", script, "sh", str(tmp_path), sys.executable, FILLING]
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout.split()[1]) > 3


@contextmanager
def unprivileged_folder() -> Iterator[Path]:
    """A folder of a user to whom file permissions apply: root is made somebody else for the time."""
    root = os.geteuid() == 0
    with TemporaryDirectory() as name:
        folder = Path(name)
        if root:
            os.chown(folder, 65534, 65534)
            os.seteuid(65534)
        try:
            yield folder
        finally:
            if root:
                os.seteuid(0)


def test_a_read_only_file_is_503_for_writes_serves_reads_and_takes_writes_when_it_may_be_written() -> None:
    with unprivileged_folder() as folder:
        path = folder / "store.db"
        surface = Surface(SqliteStore(path))
        surface.capture(payload(turn(1)))
        surface.store.close()
        path.chmod(0o444)
        refused(surface.client.get("/health"), "the database may not be written")
        unavailable(surface, "the database may not be written")
        assert len(surface.turns()) == 1
        # SQLite makes the files beside it with the mode of the database.
        for file in folder.glob("store.db*"):
            file.chmod(0o644)
        well(surface, 1)
        surface.close()


def test_a_folder_that_may_not_be_written_is_503_and_used_when_it_may() -> None:
    with unprivileged_folder() as folder:
        surface = Surface(SqliteStore(folder / "store.db"))
        folder.chmod(0o555)
        unavailable(surface, "the database cannot be opened")
        refused(surface.client.get("/v1/decision-events"), "the database cannot be opened")
        folder.chmod(0o755)
        well(surface, 0)
        surface.close()


def test_a_folder_that_is_not_there_is_503_and_used_when_it_is(tmp_path: Path) -> None:
    surface = Surface(SqliteStore(tmp_path / "later" / "store.db"))
    unavailable(surface, "the database cannot be opened")
    (tmp_path / "later").mkdir()
    well(surface, 0)
    surface.close()


def test_a_file_that_is_no_database_is_503_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"this is not a database" * 100)
    surface = Surface(SqliteStore(path))
    unavailable(surface, "the file is not a SQLite database")
    assert path.read_bytes() == b"this is not a database" * 100
    path.unlink()
    well(surface, 0)
    surface.close()


def test_a_database_of_another_program_is_503_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs (a)")
    other.close()
    before = path.read_bytes()
    surface = Surface(SqliteStore(path))
    unavailable(surface, "the database belongs to another program")
    assert path.read_bytes() == before
    surface.close()


def test_a_database_of_a_newer_release_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    other = sqlite3.connect(path)
    other.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    other.close()
    store = SqliteStore(path)
    with pytest.raises(
        NewerDatabase, match=rf"schema version {SCHEMA_VERSION + 1}, this release knows {SCHEMA_VERSION}"
    ):
        store.ping()
    with pytest.raises(NewerDatabase):
        store.event("x")
    store.close()


def test_a_damaged_file_is_503_and_the_file_put_back_is_used_without_restart(on_file: Surface, tmp_path: Path) -> None:
    path, backup = tmp_path / "store.db", tmp_path / "backup.db"
    for number in range(1, 40):
        on_file.capture(payload(turn(number, os.urandom(2000).hex())))
    on_file.store.close()
    shutil.copy(path, backup)
    raw = bytearray(path.read_bytes())
    for page in range(1, len(raw) // 4096):
        raw[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    path.write_bytes(raw)
    refused(on_file.post(envelope(payload(turn(99)))), "the database is damaged")
    refused(on_file.client.get(f"/v1/sessions/{SESSION}/turns"), "the database is damaged")
    backup.replace(path)
    well(on_file, 39)


def damage(surface: Surface, statement: str) -> None:
    with surface.store._database.writing() as connection:
        connection.execute(statement)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "UPDATE events SET body = substr(body, 1, 4) || x'7800' || substr(body, 7)",
            "a stored body cannot be unpacked",
        ),
        ("UPDATE turns SET chunk_bytes = 1000000", "a turn's place is outside its event"),
        ("UPDATE turns SET chunk_bytes = 2", "a stored body cannot be unpacked"),
    ],
)
def test_a_body_that_was_damaged_in_the_file_is_typed(statement: str, message: str, surface: Surface) -> None:
    surface.capture(payload(turn(1, "a" * 3000)))
    damage(surface, statement)
    refused(surface.client.get(f"/v1/sessions/{SESSION}/turns"), message)


def test_a_file_that_was_removed_is_made_anew_and_nothing_is_written_beside_it(
    on_file: Surface, tmp_path: Path
) -> None:
    on_file.capture(payload(turn(1)))
    for file in tmp_path.glob("store.db*"):
        file.unlink()
    assert on_file.capture(payload(turn(2)))["position"] == 1
    on_file.store.close()
    assert len(on_file.turns()) == 1


def test_a_reader_of_a_file_that_was_replaced_is_not_used_again(on_file: Surface, tmp_path: Path) -> None:
    on_file.capture(payload(turn(1)))
    with on_file.store._database.reading() as reader:
        for file in tmp_path.glob("store.db*"):
            file.unlink()
        on_file.capture(payload(turn(2)))
        assert reader.execute("SELECT count(*) FROM turns").fetchone() == (1,)
    assert [record["content"] for record in on_file.turns()] == ["t2"]
    assert reader not in on_file.store._database._readers


def test_a_database_that_was_taken_out_of_wal_mode_is_put_back(on_file: Surface, tmp_path: Path) -> None:
    on_file.capture(payload(turn(1)))
    on_file.store.close()
    other = sqlite3.connect(tmp_path / "store.db")
    assert other.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    other.close()
    well(on_file, 1)
    with on_file.store._database.reading() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with on_file.store._database.writing() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def broken_off(surface: Surface, error: BaseException) -> None:
    with surface.store._database.writing() as connection:
        connection.execute("DELETE FROM turns")
        raise error


def test_a_write_that_is_broken_off_leaves_nothing(surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    with pytest.raises(KeyboardInterrupt):
        broken_off(surface, KeyboardInterrupt())
    with pytest.raises(StoreAnswerError, match="the database refused a statement"):
        broken_off(surface, sqlite3.IntegrityError())
    assert len(surface.turns()) == 1


def test_a_read_that_is_broken_off_closes_its_connection(on_file: Surface) -> None:
    on_file.capture(payload(turn(1)))
    with pytest.raises(KeyboardInterrupt), on_file.store._database.reading():
        raise KeyboardInterrupt
    with pytest.raises(StoreAnswerError), on_file.store._database.reading() as connection:
        connection.execute("SELECT nothing")
    assert len(on_file.turns()) == 1


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (sqlite3.SQLITE_BUSY, DatabaseLocked),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, DatabaseLocked),
        (sqlite3.SQLITE_LOCKED, DatabaseLocked),
        (sqlite3.SQLITE_FULL, DiskFull),
        (sqlite3.SQLITE_READONLY_DBMOVED, ReadOnlyDatabase),
        (sqlite3.SQLITE_IOERR_FSYNC, DatabaseUnreachable),
        (sqlite3.SQLITE_CANTOPEN, DatabaseUnreachable),
        (sqlite3.SQLITE_CORRUPT_INDEX, DamagedDatabase),
        (sqlite3.SQLITE_NOTADB, NotADatabase),
        (sqlite3.SQLITE_ERROR, StoreAnswerError),
        (None, StoreAnswerError),
    ],
)
def test_every_code_of_sqlite_has_its_fault(code: int | None, fault: type[StoreAnswerError], on_file: Surface) -> None:
    error = sqlite3.OperationalError("SECRET-71b")
    if code is not None:
        error.sqlite_errorcode = code
    on_file.capture(payload(turn(1)))
    with pytest.raises(StoreAnswerError) as caught, on_file.store._database.writing():
        raise error
    assert type(caught.value) is fault
    assert "SECRET" not in caught.value.message
    well(on_file, 1)


def test_tables_that_another_process_makes_meanwhile_are_used(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("BEGIN IMMEDIATE")
    for statement in TABLES.split(";\n"):
        other.execute(statement)
    other.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    release = threading.Timer(0.2, other.execute, ["COMMIT"])
    release.start()
    surface = Surface(SqliteStore(path, busy_timeout_s=10))
    well(surface, 0)
    release.join()
    other.close()
    surface.close()


def test_a_store_of_another_process_is_refused_and_left_open_for_it(on_file: Surface) -> None:
    on_file.capture(payload(turn(1)))
    database = on_file.store._database
    writer, database._owner = database._writer, os.getpid() + 1
    message = "the store was opened before this process forked: open one in each process"
    unavailable(on_file, message)
    refused(on_file.client.get("/v1/decision-events"), message)
    on_file.store.close()
    assert database._writer is writer
    database._owner = os.getpid()
