"""``store expire`` erases the sessions without activity for so long, and says which."""

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from agent.cli.exit_codes import ExitCode
from agent.cli.output_format import Format
from agent.cli.store.expire import ExpireCommand
from store.urls import open_store
from tests.cli.store.running import capture, run
from tests.store.surface import Surface

# The invocation's clock stands at 2026-03-02T08:15:00Z, and so does that of what ``Surface`` captures.
NOW = datetime(2026, 3, 2, 8, 15, tzinfo=UTC)


def captured_at(surface: Surface, moment: datetime, *contents: str) -> str:
    return capture(surface, *contents, timestamp=moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))


@pytest.fixture
def store(tmp_path):
    """A store with a session of 40 days ago, one of 29 days ago, and one of today; their ids."""
    surface = Surface(open_store(f"sqlite:///{tmp_path / 's.db'}"))
    ids = [
        captured_at(surface, NOW - timedelta(days=40), "old", "older"),
        captured_at(surface, NOW - timedelta(days=29), "recent"),
        captured_at(surface, NOW, "new"),
    ]
    surface.close()
    return tmp_path / "s.db", ids


def erased(path) -> list[str]:
    """The sessions at ``path`` whose turns are erased."""
    with closing(Surface(open_store(f"sqlite:///{path}"))) as surface:
        sessions = [row["session_id"] for row in surface.get("/v1/sessions")["sessions"]]
        return [each for each in sessions if all(turn["erased"] for turn in surface.turns(each))]


def test_only_what_had_no_activity_for_so_long_is_erased(store):
    path, (old, recent, new) = store
    code, out, err = run(ExpireCommand("30d", dry_run=False, batch=100), path)
    assert (code, err) == (ExitCode.OK, "")
    assert json.loads(out) == {
        "dry_run": False,
        "before": "2026-01-31T08:15:00.000000Z",
        "turns": 2,
        "sessions": [{"session_id": old, "turns": 2}],
    }
    assert erased(path) == [old]
    code, out, _ = run(ExpireCommand("1h", dry_run=False, batch=1), path)
    assert [session["session_id"] for session in json.loads(out)["sessions"]] == [recent]
    assert set(erased(path)) == {old, recent}
    assert new not in erased(path)


def test_again_erases_nothing_more(store):
    path, _ = store
    run(ExpireCommand("30d", dry_run=False, batch=100), path)
    assert json.loads(run(ExpireCommand("30d", dry_run=False, batch=100), path)[1])["sessions"] == []


def test_a_dry_run_names_the_sessions_and_erases_none(store):
    path, (old, recent, _) = store
    code, out, _ = run(ExpireCommand("1w", dry_run=True, batch=100), path)
    assert code == ExitCode.OK
    assert {session["session_id"] for session in json.loads(out)["sessions"]} == {old, recent}
    _, table, _ = run(ExpireCommand("30d", dry_run=True, batch=100), path, Format.TABLE)
    assert [line.split(maxsplit=1) for line in table.splitlines()][1:] == [
        ["sessions", "1 would be erased"],
        ["turns", "2 would be erased"],
        ["session", f"{old}  2 turns"],
    ]
    assert erased(path) == []


def test_people_are_told_counts(store):
    code, table, _ = run(ExpireCommand("4w", dry_run=False, batch=100), store[0], Format.TABLE)
    assert code == ExitCode.OK
    assert [" ".join(line.split()) for line in table.splitlines()] == [
        "last activity before 2026-02-02T08:15:00.000000Z",
        "sessions 2 erased",
        "turns 3 erased",
    ]


@pytest.mark.parametrize("older_than", ["soon", "0d", "-1d"])
def test_an_age_that_is_none_erases_nothing(store, older_than):
    code, out, err = run(ExpireCommand(older_than, dry_run=False, batch=100), store[0], Format.TABLE)
    assert (code, out) == (ExitCode.USAGE, "")
    assert err.startswith("memory-graph: --older-than: ")
    assert erased(store[0]) == []


def test_a_store_that_is_not_there_is_1(tmp_path):
    assert run(ExpireCommand("1d", dry_run=False, batch=1), tmp_path / "none.db")[0] == ExitCode.STORE
    assert list(tmp_path.iterdir()) == []
