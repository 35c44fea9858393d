"""``store migrate`` and ``store scrub``."""

import json
import sqlite3

from agent.cli.exit_codes import ExitCode
from agent.cli.output_format import Format
from agent.cli.store.migrate import MigrateCommand
from agent.cli.store.scrub import ScrubCommand
from store.engines.schema import SCHEMA_VERSION
from store.urls import open_store
from tests.cli.store.running import filled, run
from tests.store.surface import Surface


def test_migrate_makes_a_database_and_says_of_which_kind(tmp_path):
    code, out, err = run(MigrateCommand(), tmp_path / "s.db")
    assert (code, err) == (ExitCode.OK, "")
    assert json.loads(out) == {"database": str(tmp_path / "s.db"), "kind": "embedded", "schema_version": SCHEMA_VERSION}
    assert (tmp_path / "s.db").exists()
    assert run(MigrateCommand(), tmp_path / "s.db", Format.TABLE)[0] == ExitCode.OK


def test_migrate_refuses_a_database_of_a_newer_release(tmp_path):
    filled(tmp_path / "s.db")
    with sqlite3.connect(tmp_path / "s.db") as connection:
        connection.execute("PRAGMA user_version = 999999")
    connection.close()
    code, _, err = run(MigrateCommand(), tmp_path / "s.db", Format.TABLE)
    assert code == ExitCode.STORE
    assert "use the newer release" in err


def test_scrub_leaves_nothing_in_the_files_of_what_was_deleted(tmp_path):
    path = tmp_path / "s.db"
    filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("CREATE TABLE junk (text)")
        connection.execute("INSERT INTO junk VALUES ('SECRET-71b' || hex(zeroblob(20000)))")
        connection.commit()
        connection.execute("DROP TABLE junk")
    connection.close()
    assert b"SECRET-71b" in path.read_bytes()
    code, out, err = run(ScrubCommand(), path)
    assert (code, err, json.loads(out)) == (ExitCode.OK, "", {"files": "rewritten"})
    assert not any(b"SECRET-71b" in file.read_bytes() for file in tmp_path.iterdir())
    surface = Surface(open_store(f"sqlite:///{path}"))
    assert surface.get("/v1/stats")["events"] == 1
    surface.close()


def test_neither_makes_sense_where_there_is_no_store(tmp_path):
    assert run(ScrubCommand(), tmp_path / "none.db")[0] == ExitCode.STORE
    assert run(MigrateCommand(), tmp_path / "none" / "s.db")[0] == ExitCode.STORE
    assert list(tmp_path.iterdir()) == []
