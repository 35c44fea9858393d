"""The file and its connections: schema version, replaced files, broken-off transactions, other processes."""

import os
import sqlite3
import threading
from pathlib import Path

import pytest

from store.engines.schema import SCHEMA_VERSION, SQLITE, stamp, tables
from store.engines.sqlite import SqliteStore
from store.errors import (
    DamagedDatabase,
    DatabaseLocked,
    DatabaseUnreachable,
    DiskFull,
    NotADatabase,
    ReadOnlyDatabase,
    StoreAnswerError,
)
from tests.store.availability import refused, unavailable, well
from tests.store.surface import Surface, payload, turn


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
    with on_file.store.engine.reading() as reader:
        for file in tmp_path.glob("store.db*"):
            file.unlink()
        on_file.capture(payload(turn(2)))
        assert reader.execute("SELECT count(*) FROM turns").fetchone() == (1,)
    assert [record["content"] for record in on_file.turns()] == ["t2"]
    assert reader not in on_file.store.engine._readers


def test_a_database_that_was_taken_out_of_wal_mode_is_put_back(on_file: Surface, tmp_path: Path) -> None:
    on_file.capture(payload(turn(1)))
    on_file.store.close()
    other = sqlite3.connect(tmp_path / "store.db")
    assert other.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    other.close()
    well(on_file, 1)
    with on_file.store.engine.reading() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with on_file.store.engine.writing() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def broken_off(surface: Surface, error: BaseException) -> None:
    with surface.store.engine.writing() as connection:
        connection.execute("DELETE FROM turns")
        raise error


def test_a_write_that_is_broken_off_leaves_nothing(on_file: Surface) -> None:
    on_file.capture(payload(turn(1)))
    with pytest.raises(KeyboardInterrupt):
        broken_off(on_file, KeyboardInterrupt())
    with pytest.raises(StoreAnswerError, match="the database refused a statement"):
        broken_off(on_file, sqlite3.IntegrityError())
    assert len(on_file.turns()) == 1


def test_a_read_that_is_broken_off_closes_its_connection(on_file: Surface) -> None:
    on_file.capture(payload(turn(1)))
    with pytest.raises(KeyboardInterrupt), on_file.store.engine.reading():
        raise KeyboardInterrupt
    with pytest.raises(StoreAnswerError), on_file.store.engine.reading() as connection:
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
    with pytest.raises(StoreAnswerError) as caught, on_file.store.engine.writing():
        raise error
    assert type(caught.value) is fault
    assert "SECRET" not in caught.value.message
    well(on_file, 1)


def test_tables_that_another_process_makes_meanwhile_are_used(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("BEGIN IMMEDIATE")
    for statement in (*tables(SQLITE), *stamp()):
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
    database = on_file.store.engine
    writer, database._owner = database._writer, os.getpid() + 1
    message = "the store was opened before this process forked: open one in each process"
    unavailable(on_file, message)
    refused(on_file.client.get("/v1/decision-events"), message)
    on_file.store.close()
    assert database._writer is writer
    database._owner = os.getpid()
