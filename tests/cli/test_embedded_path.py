import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.cli.embedded_path import check_embedded_path, check_embedded_store, is_absent
from agent.config import StoreAddress
from agent.errors import StoreConnectionError, StoreNotFound
from store.engines.sqlite import SqliteStore


def refused(path: Path) -> str:
    with pytest.raises(StoreConnectionError) as caught:
        check_embedded_path(StoreAddress(path=str(path)))
    return caught.value.message.removeprefix(f"the embedded store {path} cannot be opened: ")


def test_a_server_memory_a_new_file_an_empty_one_and_a_database_may_hold_a_store(tmp_path: Path) -> None:
    check_embedded_path(StoreAddress(url="https://store.example", api_key="k"))
    check_embedded_path(StoreAddress(path=":memory:"))
    check_embedded_path(StoreAddress(path=str(tmp_path / "new.db")))
    assert not (tmp_path / "new.db").exists()
    (tmp_path / "empty.db").touch()
    check_embedded_path(StoreAddress(path=str(tmp_path / "empty.db")))
    store = SqliteStore(tmp_path / "used.db")
    store.ping()
    store.close()
    check_embedded_path(StoreAddress(path=str(tmp_path / "used.db")))


def test_a_directory_a_foreign_file_and_a_missing_folder_are_called_so(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database")
    assert refused(tmp_path) == "Is a directory"
    assert refused(tmp_path / "notes.txt") == "it is a file of another kind"
    assert refused(tmp_path / "none" / "store.db") == "its folder does not exist"
    assert refused(tmp_path / "notes.txt" / "store.db") in {"Not a directory", "its folder does not exist"}
    assert refused(tmp_path / ("x" * 300)) == "File name too long"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_and_a_file_without_permission_are_called_so(tmp_path: Path) -> None:
    (tmp_path / "locked.db").touch(mode=0o400)
    assert refused(tmp_path / "locked.db") == "Permission denied"
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    assert refused(folder / "store.db") == "its folder may not be written"


def test_who_only_asks_is_told_that_no_database_is_there_and_none_is_made(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with pytest.raises(StoreNotFound) as caught:
        check_embedded_store(StoreAddress(path=str(path)))
    assert caught.value.message == f"there is no store at {path}: a capture makes one"
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StoreConnectionError):
        check_embedded_store(StoreAddress(path=str(tmp_path)))


def test_who_only_asks_may_ask_a_server_memory_and_a_file(tmp_path: Path) -> None:
    (tmp_path / "used.db").touch()
    for address in (
        StoreAddress(url="https://store.example", api_key="k"),
        StoreAddress(path=":memory:"),
        StoreAddress(path=str(tmp_path / "used.db")),
    ):
        check_embedded_store(address)
        assert not is_absent(address)


def test_another_program_s_database_a_broken_one_a_pipe_and_a_link_to_itself_are_called_so(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE notes (text)")
    assert refused(tmp_path / "other.db") == "the database belongs to another program"
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    assert refused(tmp_path / "broken.db") == "the file is not a SQLite database"
    os.mkfifo(tmp_path / "pipe.db")
    assert refused(tmp_path / "pipe.db") == "it is no file"
    (tmp_path / "loop.db").symlink_to("loop.db")
    assert refused(tmp_path / "loop.db") == "its link leads nowhere"


def test_a_database_that_somebody_is_at_work_in_is_waited_for_by_the_store(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        check_embedded_path(StoreAddress(path=str(path)))
