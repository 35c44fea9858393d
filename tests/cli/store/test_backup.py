"""``store backup``, ``store erasures`` and ``store restore``: a copy, what was erased since, and both put back."""

import json
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.cli.exit_codes import ExitCode
from agent.cli.output_format import Format
from agent.cli.store.backup import BackupCommand
from agent.cli.store.erasures import ApplyCommand, ErasuresCommand
from agent.cli.store.restore import RestoreCommand
from agent.cli.store.verify import VerifyCommand
from store.urls import open_store
from tests.cli.store.running import capture, filled, run
from tests.store.surface import Surface

SERVER = "postgresql+psycopg://ann:SECRET-71b@db.example/store"


def surface_on(path: Path) -> closing[Surface]:
    return closing(Surface(open_store(f"sqlite:///{path}")))


def contents(path: Path, session: str) -> list[str | None]:
    with surface_on(path) as surface:
        return [turn.get("content") for turn in surface.turns(session)]


def test_a_backup_holds_what_the_store_holds_while_it_is_in_use(tmp_path):
    with surface_on(tmp_path / "s.db") as surface:
        session = capture(surface, "hello", "again")
        code, out, err = run(BackupCommand(str(tmp_path / "copy.db")), tmp_path / "s.db")
    assert (code, err) == (ExitCode.OK, "")
    said = json.loads(out)
    assert (said["file"], said["events"]) == (str(tmp_path / "copy.db"), 1)
    assert said["bytes"] == (tmp_path / "copy.db").stat().st_size
    assert contents(tmp_path / "copy.db", session) == ["hello", "again"]
    assert run(VerifyCommand(10), tmp_path / "copy.db")[0] == ExitCode.OK


def test_a_backup_is_never_written_over_a_file(tmp_path):
    filled(tmp_path / "s.db")
    (tmp_path / "copy.db").write_text("of yesterday")
    code, out, err = run(BackupCommand(str(tmp_path / "copy.db")), tmp_path / "s.db", Format.TABLE)
    assert (code, out) == (ExitCode.USAGE, "")
    assert "is not written over a file" in err
    assert (tmp_path / "copy.db").read_text() == "of yesterday"


def test_a_backup_into_a_folder_that_is_not_there_is_2(tmp_path):
    filled(tmp_path / "s.db")
    code, _, err = run(BackupCommand(str(tmp_path / "none" / "copy.db")), tmp_path / "s.db", Format.TABLE)
    assert (code, err) == (
        ExitCode.USAGE,
        f"memory-graph: cannot write {tmp_path / 'none' / 'copy.db'}: its folder does not exist\n",
    )


def test_a_store_that_is_not_there_has_no_backup(tmp_path):
    assert run(BackupCommand(str(tmp_path / "copy.db")), tmp_path / "none.db")[0] == ExitCode.STORE
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "tool"),
    [(BackupCommand("a b.dump"), "pg_dump"), (RestoreCommand("a b.dump", None, force=False), "pg_restore")],
)
def test_for_postgresql_its_own_tools_are_named_by_the_exact_line_without_a_password(command, tool):
    code, out, err = run(command, SERVER, Format.TABLE)
    assert (code, out) == (ExitCode.NOT_POSSIBLE, "")
    words = shlex.split(err.splitlines()[1])
    assert words[0] == tool
    assert "--dbname=postgresql://ann@db.example/store" in words
    assert any("a b.dump" in word for word in words)
    assert "SECRET" not in err


def test_a_restore_brings_back_what_was_there_and_erases_what_was_erased_since(tmp_path):
    live, copy, ledger = tmp_path / "s.db", tmp_path / "copy.db", tmp_path / "ledger.jsonl"
    with surface_on(live) as surface:
        kept, gone = capture(surface, "kept"), capture(surface, "secret")
        assert run(BackupCommand(str(copy)), live)[0] == ExitCode.OK
        surface.erase("session", gone)
        capture(surface, "after the backup")
    code, out, err = run(ErasuresCommand(str(ledger)), live)
    assert (code, out, err) == (ExitCode.OK, "", f"memory-graph: {ledger}: 1 erasure\n")
    assert b"secret" not in ledger.read_bytes()
    for path in tmp_path.glob("s.db*"):
        path.unlink()
    code, out, err = run(RestoreCommand(str(copy), str(ledger), force=False), live)
    assert (code, err) == (ExitCode.OK, "")
    assert json.loads(out) == {"events": 2, "erasures_applied": 1, "erasures_emptied": 1}
    assert contents(live, kept) == ["kept"]
    assert contents(live, gone) == [None]
    assert not any(b"secret" in path.read_bytes() for path in tmp_path.glob("s.db*"))
    assert run(VerifyCommand(10), live)[0] == ExitCode.OK


def test_a_restore_without_a_ledger_says_what_that_means(tmp_path):
    session = filled(tmp_path / "s.db", "hello")
    run(BackupCommand(str(tmp_path / "copy.db")), tmp_path / "s.db")
    code, _, err = run(RestoreCommand(str(tmp_path / "copy.db"), None, force=False), tmp_path / "new.db", Format.TABLE)
    assert code == ExitCode.OK
    assert err.endswith(" erasures made since the backup are NOT applied (--erasures)\n")
    assert contents(tmp_path / "new.db", session) == ["hello"]


def test_a_database_that_has_events_is_replaced_only_by_force(tmp_path):
    old = filled(tmp_path / "s.db", "before")
    run(BackupCommand(str(tmp_path / "copy.db")), tmp_path / "s.db")
    new = filled(tmp_path / "other.db", "mine")
    code, out, err = run(RestoreCommand(str(tmp_path / "copy.db"), None, force=False), tmp_path / "other.db")
    assert (code, out, "--force" in err) == (ExitCode.USAGE, "", True)
    assert contents(tmp_path / "other.db", new) == ["mine"]
    assert run(RestoreCommand(str(tmp_path / "copy.db"), None, force=True), tmp_path / "other.db")[0] == ExitCode.OK
    assert contents(tmp_path / "other.db", old) == ["before"]


@pytest.mark.parametrize("name", ["none.db", "folder", "text"])
def test_what_is_no_backup_is_refused_and_the_database_left_alone(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("not a database at all, whatever its name")
    session = filled(tmp_path / "s.db", "mine")
    code, out, _ = run(RestoreCommand(str(tmp_path / name), None, force=True), tmp_path / "s.db", Format.TABLE)
    assert code in (ExitCode.USAGE, ExitCode.STORE)
    assert out == ""
    assert contents(tmp_path / "s.db", session) == ["mine"]


@pytest.mark.parametrize("ledger", [b"nonsense\n", b"{}\n", None])
def test_a_ledger_that_cannot_be_read_stops_the_restore_before_it_serves(tmp_path, ledger):
    session = filled(tmp_path / "s.db", "secret")
    run(BackupCommand(str(tmp_path / "copy.db")), tmp_path / "s.db")
    name = tmp_path / "ledger.jsonl"
    if ledger is not None:
        name.write_bytes(ledger)
    mine = filled(tmp_path / "mine.db", "mine")
    code, out, _ = run(RestoreCommand(str(tmp_path / "copy.db"), str(name), force=True), tmp_path / "mine.db")
    assert (code, out) == (ExitCode.USAGE, "")
    assert contents(tmp_path / "mine.db", mine) == ["mine"]
    with closing(sqlite3.connect(tmp_path / "mine.db")) as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (1,)
    assert session != mine


def test_the_ledger_goes_to_standard_output_a_document_a_line(tmp_path):
    with surface_on(tmp_path / "s.db") as surface:
        capture(surface, "one")
        gone = capture(surface, "two", user="bob")
        surface.erase("session", gone)
        surface.erase("user", "ann")
    code, out, err = run(ErasuresCommand("-"), tmp_path / "s.db")
    assert (code, err) == (ExitCode.OK, "")
    assert [json.loads(line)["kind"] for line in out.splitlines()] == ["session", "user", "turns"]
    # A person is a digest there: the ledger is kept where backups are not, and still is nobody's address book.
    assert "ann" not in out


def test_a_ledger_is_replaced_as_a_whole_or_not_at_all(tmp_path):
    filled(tmp_path / "s.db")
    ledger = tmp_path / "ledger.jsonl"
    ledger.write_text("of yesterday")
    assert run(ErasuresCommand(str(ledger), force=True), tmp_path / "none.db")[0] == ExitCode.STORE
    code, _, err = run(ErasuresCommand(str(ledger)), tmp_path / "s.db", Format.TABLE)
    assert (code, err.endswith("only with --force\n")) == (ExitCode.USAGE, True)
    assert ledger.read_text() == "of yesterday"
    assert run(ErasuresCommand(str(ledger), force=True), tmp_path / "s.db")[0] == ExitCode.OK
    assert ledger.read_text() == ""
    code, _, err = run(ErasuresCommand(str(tmp_path / "none" / "l")), tmp_path / "s.db", Format.TABLE)
    assert (code, err) == (
        ExitCode.USAGE,
        f"memory-graph: cannot write {tmp_path / 'none' / 'l'}: No such file or directory\n",
    )
    assert {path.name for path in tmp_path.iterdir()} == {"s.db", "ledger.jsonl"}


def test_a_ledger_is_applied_by_itself_to_what_comes_from_elsewhere(tmp_path):
    with surface_on(tmp_path / "s.db") as surface:
        kept, gone = capture(surface, "kept"), capture(surface, "secret")
    copy = tmp_path / "copy.db"
    copy.write_bytes((tmp_path / "s.db").read_bytes())
    with surface_on(tmp_path / "s.db") as surface:
        surface.erase("session", gone)
    ledger = str(tmp_path / "ledger.jsonl")
    assert run(ErasuresCommand(ledger), tmp_path / "s.db")[0] == ExitCode.OK
    code, out, err = run(ApplyCommand(ledger), copy)
    assert (code, out, err) == (
        ExitCode.OK,
        "",
        f"memory-graph: {ledger}: 1 erasure applied, 1 of them emptied something, 0 known already\n",
    )
    assert (contents(copy, kept), contents(copy, gone)) == (["kept"], [None])
    assert b"secret" not in copy.read_bytes()
    assert run(ApplyCommand(ledger), copy)[2].endswith(
        " 0 erasures applied, 0 of them emptied something, 1 known already\n"
    )


def test_a_ledger_of_another_history_is_refused_whole(tmp_path):
    with surface_on(tmp_path / "s.db") as surface:
        surface.erase("session", capture(surface, "one"))
    ledger = tmp_path / "ledger.jsonl"
    run(ErasuresCommand(str(ledger)), tmp_path / "s.db")
    with surface_on(tmp_path / "other.db") as surface:
        ids = [capture(surface, "first"), capture(surface, "second")]
    assert run(ApplyCommand(str(ledger)), tmp_path / "other.db")[0] == ExitCode.USAGE
    assert [contents(tmp_path / "other.db", each) for each in ids] == [["first"], ["second"]]
    ledger.write_text("nonsense")
    code, _, err = run(ApplyCommand(str(ledger)), tmp_path / "other.db", Format.TABLE)
    assert (code, err.startswith("memory-graph: line 1 of the ledger")) == (ExitCode.USAGE, True)
    assert run(ApplyCommand(str(tmp_path / "none")), tmp_path / "other.db")[0] == ExitCode.USAGE


def test_tenants_of_a_ledger_that_the_database_does_not_have_are_told(tmp_path):
    with closing(Surface(open_store(f"sqlite:///{tmp_path / 's.db'}"), tenant="acme")) as surface:
        surface.erase("session", capture(surface, "one"))
    ledger = str(tmp_path / "ledger.jsonl")
    run(ErasuresCommand(ledger), tmp_path / "s.db")
    told = "the ledger names tenant acme, which this database does not have: nothing of it was erased here\n"
    filled(tmp_path / "other.db")
    run(BackupCommand(str(tmp_path / "copy.db")), tmp_path / "other.db")
    code, _, err = run(ApplyCommand(ledger), tmp_path / "other.db")
    assert (code, err.endswith(told)) == (ExitCode.PARTLY, True)
    assert "1 erasure applied, 0 of them emptied something, 0 known already" in err
    code, out, err = run(RestoreCommand(str(tmp_path / "copy.db"), ledger, force=True), tmp_path / "other.db")
    assert (code, err.endswith(told), json.loads(out)["erasures_emptied"]) == (ExitCode.PARTLY, True, 0)


def test_a_restore_over_a_database_that_erased_says_that_its_erasures_alone_are_applied(tmp_path):
    with surface_on(tmp_path / "s.db") as surface:
        gone = capture(surface, "secret")
        run(BackupCommand(str(tmp_path / "copy.db")), tmp_path / "s.db")
        surface.erase("session", gone)
    code, out, err = run(RestoreCommand(str(tmp_path / "copy.db"), None, force=True), tmp_path / "s.db", Format.JSON)
    assert (code, json.loads(out)["erasures_emptied"]) == (ExitCode.OK, 1)
    assert "only what the replaced database had erased is erased again" in err
