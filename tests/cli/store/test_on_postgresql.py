"""The same commands on a real PostgreSQL."""

import json
from collections.abc import Iterator
from contextlib import closing

import pytest

from agent.cli.exit_codes import ExitCode
from agent.cli.output_format import Format
from agent.cli.store.audit import AuditCommand
from agent.cli.store.erasures import ApplyCommand, ErasuresCommand
from agent.cli.store.expire import ExpireCommand
from agent.cli.store.migrate import MigrateCommand
from agent.cli.store.pull import PullCommand
from agent.cli.store.scrub import ScrubCommand
from agent.cli.store.verify import VerifyCommand
from store.urls import open_store
from tests.cli.store.running import capture, filled, run
from tests.store.postgres_server import server
from tests.store.surface import Surface


@pytest.fixture
def url() -> Iterator[str]:
    with server().database() as found:
        yield found


def test_an_empty_database_is_no_store_and_stays_empty(url):
    for _ in range(2):
        code, out, err = run(VerifyCommand(10), url, Format.TABLE)
        assert (code, out, err) == (ExitCode.STORE, "", "memory-graph: there is no store in this database\n")


def test_a_pull_moves_events_into_a_database_server_and_out_of_it(url, tmp_path):
    filled(tmp_path / "a.db")

    def pull(source, target):
        command = PullCommand(
            source, key_variable="PULL_API_KEY", types="", after=None, page=10, dry_run=False, tenant="acme",
            source_tenant="acme" if source == url else None,
        )  # fmt: skip
        code, out, err = run(command, target)
        return code, json.loads(out)["new"], err

    assert pull(str(tmp_path / "a.db"), url) == (ExitCode.OK, 1, "")
    assert pull(url, tmp_path / "b.db") == (ExitCode.OK, 1, "")


def test_a_database_is_made_checked_emptied_and_cleaned(url, tmp_path):
    assert json.loads(run(MigrateCommand(), url)[1])["kind"] == "postgresql"
    with closing(Surface(open_store(url))) as surface:
        old = capture(surface, "hello", "again", timestamp="2026-01-02T08:15:00Z")
        new = capture(surface, "today")
    code, out, err = run(VerifyCommand(10), url)
    assert (code, err, json.loads(out)["checked"]["events"]) == (ExitCode.OK, "", 2)
    code, out, err = run(ExpireCommand("30d", dry_run=False, batch=10), url)
    assert (code, err, json.loads(out)["sessions"]) == (ExitCode.OK, "", [{"session_id": old, "turns": 2}])
    (act,) = json.loads(run(AuditCommand(None), url)[1])["audit"]
    assert (act["tenant"], act["action"], act["subject"]) == ("default", "erase_session", old)
    assert run(ScrubCommand(), url, Format.TABLE) == (ExitCode.OK, "files  rewritten\n", "")
    ledger = str(tmp_path / "ledger.jsonl")
    assert run(ErasuresCommand(ledger), url)[0] == ExitCode.OK
    assert run(ApplyCommand(ledger), url)[2].endswith(
        " 0 erasures applied, 0 of them emptied something, 1 known already\n"
    )
    assert json.loads(run(VerifyCommand(10), url)[1])["checked"]["erased"] == 1
    with closing(Surface(open_store(url))) as surface:
        assert [turn["content"] for turn in surface.turns(new)] == ["today"]
