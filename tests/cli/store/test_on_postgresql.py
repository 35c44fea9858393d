"""The same commands on a real PostgreSQL."""

import json
from collections.abc import Iterator
from contextlib import closing

import pytest

from agent.cli.exit_codes import ExitCode
from agent.cli.output_format import Format
from agent.cli.store.erasures import ApplyCommand, ErasuresCommand
from agent.cli.store.expire import ExpireCommand
from agent.cli.store.migrate import MigrateCommand
from agent.cli.store.scrub import ScrubCommand
from agent.cli.store.verify import VerifyCommand
from store.urls import open_store
from tests.cli.store.running import capture, run
from tests.store.postgres_server import server
from tests.store.surface import Surface


@pytest.fixture
def url() -> Iterator[str]:
    with server().database() as found:
        yield found


def test_a_database_is_made_checked_emptied_and_cleaned(url, tmp_path):
    assert json.loads(run(MigrateCommand(), url)[1])["kind"] == "postgresql"
    with closing(Surface(open_store(url))) as surface:
        old = capture(surface, "hello", "again", timestamp="2026-01-02T08:15:00Z")
        new = capture(surface, "today")
    code, out, err = run(VerifyCommand(10), url)
    assert (code, err, json.loads(out)["checked"]["events"]) == (ExitCode.OK, "", 2)
    code, out, err = run(ExpireCommand("30d", dry_run=False, batch=10), url)
    assert (code, err, json.loads(out)["sessions"]) == (ExitCode.OK, "", [{"session_id": old, "turns": 2}])
    assert run(ScrubCommand(), url, Format.TABLE) == (ExitCode.OK, "files  rewritten\n", "")
    ledger = str(tmp_path / "ledger.jsonl")
    assert run(ErasuresCommand(ledger), url)[0] == ExitCode.OK
    assert run(ApplyCommand(ledger), url)[2].endswith(" 0 erasures applied, 1 known already\n")
    assert json.loads(run(VerifyCommand(10), url)[1])["checked"]["erased"] == 1
    with closing(Surface(open_store(url))) as surface:
        assert [turn["content"] for turn in surface.turns(new)] == ["today"]
