"""A database that cannot do it now: typed, 503 with Retry-After, nothing half written, well again without restart.

One that is damaged is 500 with its rule, which nobody asks again.
"""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from store.engines.sqlite import SqliteStore
from tests.conftest import REPOSITORY
from tests.store.availability import refused, unavailable, well
from tests.store.surface import SESSION, Surface, envelope, payload, turn


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
    with on_file.store.engine.writing():
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
    writer = on_file.store.engine._writer
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
from store.engines.sqlite import SqliteStore
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
        beside = folder / "store.db-shm"
        assert beside.stat().st_mode & 0o777 == 0o444, "SQLite makes the files beside it with the database's mode"
        path.chmod(0o640)
        well(surface, 1)
        assert beside.stat().st_mode & 0o777 == 0o640
        surface.close()


def test_files_beside_the_database_that_stayed_read_only_do_not_keep_a_later_process_from_writing() -> None:
    with unprivileged_folder() as folder:
        path = folder / "store.db"
        surface = Surface(SqliteStore(path))
        surface.capture(payload(turn(1)))
        surface.store.close()
        path.chmod(0o444)
        assert len(surface.turns()) == 1
        surface.close()
        path.chmod(0o644)
        later = Surface(SqliteStore(path))
        well(later, 1)
        later.close()


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


def test_a_folder_that_became_a_file_is_503_and_used_when_it_is_a_folder_again(tmp_path: Path) -> None:
    folder, moved = tmp_path / "folder", tmp_path / "moved"
    folder.mkdir()
    surface = Surface(SqliteStore(folder / "store.db"))
    surface.capture(payload(turn(1)))
    folder.rename(moved)
    folder.write_bytes(b"no folder")
    unavailable(surface, "the database cannot be opened")
    refused(surface.client.get(f"/v1/sessions/{SESSION}/turns"), "the database cannot be opened")
    folder.unlink()
    moved.rename(folder)
    well(surface, 1)
    surface.close()


def test_a_path_that_became_a_loop_of_links_is_503_and_used_when_it_is_none(tmp_path: Path) -> None:
    path, moved = tmp_path / "store.db", tmp_path / "moved.db"
    surface = Surface(SqliteStore(path))
    surface.capture(payload(turn(1)))
    surface.store.close()
    path.rename(moved)
    path.symlink_to(path)
    unavailable(surface, "the database cannot be opened")
    refused(surface.client.get(f"/v1/sessions/{SESSION}/turns"), "the database cannot be opened")
    path.unlink()
    moved.rename(path)
    well(surface, 1)
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


DAMAGED_FILE = {
    "error": "internal_error",
    "message": "the database is damaged",
    "details": {"rule": "damaged_database"},
}


def test_a_damaged_file_is_500_and_the_file_put_back_is_used_without_restart(on_file: Surface, tmp_path: Path) -> None:
    path, backup = tmp_path / "store.db", tmp_path / "backup.db"
    for number in range(1, 40):
        on_file.capture(payload(turn(number, os.urandom(2000).hex())))
    on_file.store.close()
    shutil.copy(path, backup)
    raw = bytearray(path.read_bytes())
    for page in range(1, len(raw) // 4096):
        raw[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    path.write_bytes(raw)
    for answer in (on_file.post(envelope(payload(turn(99)))), on_file.client.get(f"/v1/sessions/{SESSION}/turns")):
        assert (answer.status_code, answer.json()) == (500, DAMAGED_FILE)
        assert "retry-after" not in answer.headers
    backup.replace(path)
    well(on_file, 39)


def damage(surface: Surface, column: str, change: Callable[[bytes], bytes]) -> None:
    """Change a column of the last event."""
    with surface.store.engine.writing() as connection:
        key, value = connection.execute(
            f"SELECT event_key, {column} FROM events ORDER BY event_key DESC LIMIT 1"
        ).fetchone()
        connection.execute(f"UPDATE events SET {column} = ? WHERE event_key = ?", (change(bytes(value)), key))


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("body", lambda body: body[:2] + b"\xff" * 9 + body[11:]),
        ("body", lambda body: body[:-1]),
        ("body", lambda body: b""),
        ("layout", lambda layout: b"{" + layout),
        ("layout", lambda layout: b""),
    ],
    ids=range(5),
)
@pytest.mark.parametrize("path", [f"/v1/sessions/{SESSION}/turns", "/v1/decision-events", "/events/decisions"])
def test_a_body_that_was_damaged_in_the_database_is_typed(
    column: str, change: Callable[[bytes], bytes], path: str, in_process: Surface
) -> None:
    in_process.capture(payload(turn(1, "a" * 3000)))
    damage(in_process, column, change)
    answer = in_process.client.get(path)
    assert (answer.status_code, answer.json()["error"]) == (500, "internal_error")
    details = answer.json()["details"]
    assert (details["rule"], details["position"]) == ("damaged_event", 1)
    assert "retry-after" not in answer.headers
