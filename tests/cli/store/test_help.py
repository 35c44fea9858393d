"""The commands of ``memory-graph store`` from their arguments on, in this process."""

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.cli.app import main
from tests.cli.store.running import filled

Run = Callable[..., tuple[int, str, str]]
COMMANDS = ("serve", "verify", "expire", "backup", "restore", "erasures", "audit", "scrub", "migrate", "keys", "pull")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Run]:
    """Run the command line in an empty folder; returns the exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    for name in ("RUVECTOR_SERVICE_URL", "RUVECTOR_API_KEY", "RUVECTOR_STORE", "RUVECTOR_KEYS", "K_SERVICE"):
        monkeypatch.delenv(name, raising=False)
    # A command silences the logs of its whole process.
    handlers = list(logging.root.handlers)

    def run_in_process(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    yield run_in_process
    logging.root.handlers[:] = handlers


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_what_it_does_with_an_example_in_ascii(run: Run, command: str) -> None:
    code, out, err = run("store", command, "--help")
    assert (code, err) == (0, "")
    assert out.isascii()
    assert "Example: " in out
    assert f"memory-graph store {command}" in " ".join(out.split())


def test_the_group_lists_them_all(run: Run) -> None:
    code, out, _ = run("store", "--help")
    assert code == 0
    assert [line.split()[0] for line in out.partition("Commands:\n")[2].splitlines() if line.strip()] == list(COMMANDS)
    assert run("store")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("expire",), "Missing option '--older-than'."),
        (("expire", "--older-than", "soon"), "--older-than: must be a whole number above 0"),
        (("expire", "--older-than", "1d", "--batch", "0"), "'--batch'"),
        (("backup",), "Missing argument 'FILE'."),
        (("restore",), "Missing argument 'FILE'."),
        (("pull",), "Missing option '--from'."),
        (("pull", "--from", "x", "--page", "1001"), "'--page'"),
        (("serve", "--port", "65536"), "'--port'"),
        (("verify", "--format", "xml"), "'xml' is not one of"),
        (("verify", "--store", "http://h"), "--store: is the address of a server"),
    ],
)
def test_wrong_usage_is_2_and_one_clear_line(run: Run, arguments: tuple[str, ...], line: str, tmp_path: Path) -> None:
    code, out, err = run("store", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert line in err
    assert list(tmp_path.iterdir()) == []


def test_options_reach_their_commands(run: Run, tmp_path: Path) -> None:
    filled(tmp_path / "memory-graph.db")
    code, out, err = run("store", "verify", "--format", "json", "--limit", "0")
    assert (code, err, json.loads(out)["ok"]) == (0, "", True)
    code, out, err = run("store", "pull", "--from", "memory-graph.db", "--store", "other.db", "--format", "json")
    assert (code, err, json.loads(out)["new"]) == (0, "", 1)
    nobody = run("store", "audit", "--user-id", "ann", "--jsonl")
    assert (nobody[:2], "no act found on the user" in nobody[2]) == ((0, ""), True)
    assert json.loads(run("store", "audit", "--format", "json")[1]) == {"audit": [], "complete": True}
    code, out, err = run("store", "scrub", "--store", "other.db")
    assert (code, out, err) == (0, "files  rewritten\n", "")
    code, out, _ = run("store", "keys", "--format", "yaml")
    assert (code, out) == (0, "keys: []\ncallers: []\n")
    assert run("store", "migrate", "--store", "third.db")[0] == 0
    options = ("--from-tenant", "acme", "--tenant", "acme", "--format", "json")
    assert run("store", "pull", "--from", "memory-graph.db", "--store", "other.db", *options)[0] == 0
    assert run("store", "erasures", "-o", "ledger.jsonl") == (0, "", "memory-graph: ledger.jsonl: 0 erasures\n")
    assert run("store", "erasures", "-o", "ledger.jsonl")[0] == 2
    assert run("store", "erasures", "-o", "ledger.jsonl", "--force")[0] == 0
    code, _, err = run("store", "erasures", "--apply", "ledger.jsonl")
    assert (code, err) == (
        0,
        "memory-graph: ledger.jsonl: 0 erasures applied, 0 of them emptied something, 0 known already\n",
    )
    assert run("store", "backup", "copy.db")[0] == 0
    assert run("store", "restore", "copy.db", "--store", "third.db")[0] == 2
    assert run("store", "restore", "copy.db", "--store", "third.db", "--force", "--erasures", "ledger.jsonl")[0] == 0
    code, out, _ = run("store", "expire", "--older-than", "1h", "--dry-run", "--batch", "1", "--format", "json")
    assert (code, json.loads(out)["dry_run"]) == (0, True)


def test_debug_shows_where_a_failure_came_from(run: Run, tmp_path: Path) -> None:
    (tmp_path / "memory-graph.db").mkdir()
    code, _, err = run("store", "verify", "--debug")
    assert code == 1
    assert "Traceback (most recent call last)" in err
    assert "Traceback" not in run("store", "verify")[2]
