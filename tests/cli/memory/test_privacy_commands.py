"""``clear``, ``prune`` and ``erase`` from their arguments on, in this process."""

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.cli.app import main
from tests.cli.memory.taking_away import FIRST, ROLES, SECOND, SESSION, capture, results, shown_of, turns_of
from tests.cli.streams import PREFIX

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Iterator[Run]:
    """Run a command on a store of two conversations, as JSON; returns the exit code and what was printed."""
    for conversation in (FIRST, SECOND):
        capture(tmp_path / "store.db", *ROLES, conversation=conversation)
    # A command silences the logs of its whole process.
    handlers = list(logging.root.handlers)

    def run_in_process(command: str, *arguments: str) -> tuple[int, str, str]:
        code = main([*PREFIX, command, "--store", str(tmp_path / "store.db"), "--format", "json", *arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    yield run_in_process
    logging.root.handlers[:] = handlers


def test_clear_takes_the_conversation_and_all(run: Run, tmp_path: Path) -> None:
    code, out, err = run("clear", "--session-id", SESSION, "--conversation-id", FIRST, "--all", "--yes")
    assert (code, results(out), err) == (0, {FIRST: "cleared"}, "")
    assert shown_of(tmp_path / "store.db", FIRST) == []
    assert set(results(run("clear", "--session-id", SESSION, "-y")[1]).values()) == {"already clear", "cleared"}


def test_prune_keeps_ten_unless_told(run: Run) -> None:
    assert set(results(run("prune", "--session-id", SESSION, "--yes")[1]).values()) == {"already short"}
    arguments = ("prune", "--session-id", SESSION, "--conversation-id", SECOND, "--keep", "1", "--yes")
    assert results(run(*arguments)[1]) == {SECOND: "pruned"}


@pytest.mark.parametrize("keep", ["-1", "1000001", "ten", "1.5"])
def test_prune_takes_a_whole_number(run: Run, keep: str) -> None:
    code, out, err = run("prune", "--session-id", SESSION, "--keep", keep, "--yes")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--keep" in err


def test_erase_takes_each_of_its_subjects(run: Run, tmp_path: Path) -> None:
    turn = turns_of(tmp_path / "store.db")[0].turn_id
    for option, name, count in (("--turn-id", turn, 1), ("--user-id", "ann", 9), ("--session-id", SESSION, 0)):
        code, out, err = run("erase", option, name, "--yes")
        assert (code, json.loads(out)["turns"], err) == (0, count, "")


@pytest.mark.parametrize("command", ["clear", "prune"])
def test_a_session_is_needed(run: Run, command: str) -> None:
    code, _, err = run(command, "--yes")
    assert (code, json.loads(err)["error"]["message"]) == (2, "Missing option '--session-id'. (see --help)")


def test_without_yes_a_script_gets_a_document_that_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/null").open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        code, out, err = run("erase", "--user-id", "ann")
    assert (code, out) == (2, "")
    assert json.loads(err)["error"]["message"] == "erase needs --yes: there is no terminal to ask at"
