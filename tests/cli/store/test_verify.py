"""``store verify`` says what is wrong with a database, and its exit code says whether anything is."""

import json
import sqlite3

import pytest

from agent.cli.exit_codes import ExitCode
from agent.cli.output_format import Format
from agent.cli.store.verify import VerifyCommand
from tests.cli.store.running import filled, run


@pytest.fixture
def damaged(tmp_path):
    """A store of which three turns are lost."""
    path = tmp_path / "store.db"
    filled(path, "one", "two", "three", "four")
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM turns WHERE seq > 1")
    connection.close()
    return path


def test_a_clean_store_is_0(tmp_path):
    filled(tmp_path / "store.db")
    code, out, err = run(VerifyCommand(100), tmp_path / "store.db")
    assert (code, err) == (ExitCode.OK, "")
    said = json.loads(out)
    assert (said["ok"], said["findings"]) == (True, [])
    assert {name: said["checked"][name] for name in ("events", "turns", "sessions", "erased", "findings")} == {
        "events": 1,
        "turns": 2,
        "sessions": 1,
        "erased": 0,
        "findings": 0,
    }
    code, out, _ = run(VerifyCommand(100), tmp_path / "store.db", Format.TABLE)
    assert code == ExitCode.OK
    assert out.splitlines()[0].split() == ["store", "clean"]


def test_what_is_wrong_is_found_and_named_and_is_3(damaged):
    code, out, err = run(VerifyCommand(100), damaged)
    assert (code, err) == (ExitCode.DIFFERS, "")
    said = json.loads(out)
    assert said["ok"] is False
    assert said["checked"]["findings"] == len(said["findings"]) >= 3
    assert {frozenset(finding) for finding in said["findings"]} == {frozenset({"kind", "subject", "detail"})}


def test_only_so_many_are_shown_and_all_are_counted(damaged):
    _, out, _ = run(VerifyCommand(1), damaged)
    said = json.loads(out)
    assert (len(said["findings"]), said["checked"]["findings"] > 1) == (1, True)
    code, out, _ = run(VerifyCommand(1), damaged, Format.TABLE)
    assert code == ExitCode.DIFFERS
    assert out.splitlines()[-1].strip() == f"and {said['checked']['findings'] - 1} more (--limit)"
    assert json.loads(run(VerifyCommand(0), damaged)[1])["findings"] == []


def test_nothing_is_written(damaged):
    before = damaged.read_bytes()
    run(VerifyCommand(100), damaged)
    assert damaged.read_bytes() == before


def test_a_store_that_is_not_there_is_1_and_none_is_made(tmp_path):
    code, out, err = run(VerifyCommand(100), tmp_path / "none.db", Format.TABLE)
    assert (code, out, err) == (ExitCode.STORE, "", f"memory-graph: there is no store at {tmp_path / 'none.db'}\n")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_database_is_no_store_and_stays_empty(tmp_path):
    (tmp_path / "s.db").touch()
    code, out, err = run(VerifyCommand(100), tmp_path / "s.db", Format.TABLE)
    assert (code, out, err) == (ExitCode.STORE, "", "memory-graph: there is no store in this database\n")
    assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == {"s.db": 0}


def test_a_database_server_that_is_down_is_1(tmp_path):
    url = f"postgresql+psycopg://nobody@/none?host={tmp_path}"
    code, out, err = run(VerifyCommand(100), url)
    assert (code, out) == (ExitCode.STORE, "")
    assert json.loads(err)["error"]["error_code"] == "RUVECTOR_CONNECTION_ERROR"


def test_a_file_of_another_kind_is_1(tmp_path):
    (tmp_path / "text").write_text("hello, and more than sixteen bytes")
    code, _, err = run(VerifyCommand(100), tmp_path / "text", Format.TABLE)
    assert (code, err.endswith("it is a file of another kind\n")) == (ExitCode.STORE, True)
