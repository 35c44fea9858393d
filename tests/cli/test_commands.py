"""The command line from its arguments on, in this process."""

import json
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent import __version__
from agent.cli.app import main
from tests.cli.streams import EXAMPLE, PREFIX
from tests.live.host import Reply, free_port, stub_store

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Run]:
    """Run the command line in an empty folder; returns the exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    for name in ("RUVECTOR_SERVICE_URL", "RUVECTOR_API_KEY", "CAPTURE_CONTENT", "K_SERVICE"):
        monkeypatch.delenv(name, raising=False)
    # A command silences the logs of its whole process.
    handlers = list(logging.root.handlers)

    def run_in_process(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    yield run_in_process
    logging.root.handlers[:] = handlers


def test_capture_and_health_use_the_embedded_store_in_the_current_folder(run: Run, tmp_path: Path) -> None:
    code, out, err = run(*PREFIX, "capture", "--input", str(EXAMPLE))
    assert (code, err) == (0, "")
    assert out.startswith("captured       one new event\n")
    assert (tmp_path / "memory-graph.db").exists()
    code, out, err = run(*PREFIX, "health", "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out)["store"]["kind"] == "embedded"


def test_the_format_and_the_key_reach_the_capture(run: Run) -> None:
    body = {"session_id": "s", "messages": [{"role": "user", "content": "hi"}]}
    Path("chat.json").write_text(json.dumps(body))
    arguments = (*PREFIX, "capture", "--input", "chat.json", "--idempotency-key", "k")
    code, out, _ = run(*arguments, "--from", "openai-chat", "--format", "json")
    assert code == 0
    assert json.loads(out)["decision_event"]["constraints_applied"] == ["lineage_creation_enabled", "ids_derived"]
    assert run(*arguments[:-1], "k\n", "--from", "openai-chat")[0] == 2


@pytest.mark.parametrize("command", ["capture", "health"])
def test_a_store_that_is_down_is_1(run: Run, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUVECTOR_SERVICE_URL", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("RUVECTOR_DEADLINE_S", "1")
    arguments = ("--input", str(EXAMPLE)) if command == "capture" else ()
    assert run(*PREFIX, command, *arguments)[0] == 1


def test_a_store_that_refuses_is_1(run: Run) -> None:
    with stub_store() as store:
        store.reply = lambda _count: Reply(422, b"{}")
        code, out, err = run(*PREFIX, "capture", "--input", str(EXAMPLE), "--store", store.url)
    assert (code, out) == (1, "")
    assert err == "memory-graph: the store answered 422 with something that is not the answer that was asked for\n"


def test_a_capture_that_is_refused_is_2_with_every_problem(run: Run) -> None:
    Path("bad.json").write_text('{"session_id": "SECRET-71b", "turns": []}')
    code, out, err = run(*PREFIX, "capture", "--input", "bad.json")
    assert (code, out) == (2, "")
    assert set(err.splitlines()[1:]) == {
        "  $.session_id  format",
        "  $.conversation_id  required",
        "  $.turns  minItems",
    }
    assert "SECRET-71b" not in err
    assert not Path("memory-graph.db").exists()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((*PREFIX, "capture"), "Missing option '--input'."),
        ((*PREFIX, "captur"), "No such command 'captur'. Did you mean 'capture'?"),
        ((*PREFIX, "health", "--store"), "Option '--store' requires an argument."),
        ((*PREFIX, "health", "--nonsense"), "No such option: --nonsense"),
        ((*PREFIX, "capture", "--input", "x", "--from", "csv"), "Invalid value for '--from': 'csv' is not one of"),
        ((*PREFIX, "import", "x", "--from", "antropic"), "'openai-chat'. Did you mean 'anthropic'? (see --help)"),
        ((*PREFIX, "health", "--format", "xml"), "Invalid value for '--format': 'xml' is not one of"),
        ((*PREFIX, "health", "extra\x1b[2J"), "extra"),
    ],
)
def test_wrong_usage_is_2_and_one_clear_line(run: Run, arguments: tuple[str, ...], line: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert line in err
    assert err.startswith("memory-graph: ")
    assert err.endswith(" (see --help)\n")
    assert err.count("\n") == 1
    assert "\x1b" not in err


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        (("--format", "json"), json.loads),
        (("--format=yaml",), yaml.safe_load),
        (("--jsonl",), json.loads),
        (("--format", "table", "--format", "json"), json.loads),
    ],
)
def test_wrong_usage_is_a_document_where_documents_are_asked_for(
    run: Run, asked: tuple[str, ...], read: Callable[[str], Any]
) -> None:
    code, out, err = run(*PREFIX, "retrieve", "--limit", "0", *asked)
    assert (code, out) == (2, "")
    assert read(err)["error"]["error_code"] == "VALIDATION_ERROR"
    assert "--limit" in read(err)["error"]["message"]


@pytest.mark.parametrize("group", [(), ("agent",), PREFIX])
def test_a_group_without_a_command_is_2_and_shows_its_help(run: Run, group: tuple[str, ...]) -> None:
    code, out, err = run(*group)
    assert (code, out) == (2, "")
    assert err.startswith("Usage: memory-graph")


@pytest.mark.parametrize("command", [(), ("agent",), PREFIX, (*PREFIX, "capture"), (*PREFIX, "health")])
def test_every_help_goes_to_standard_output_and_is_ascii(run: Run, command: tuple[str, ...]) -> None:
    code, out, err = run(*command, "--help")
    assert (code, err) == (0, "")
    assert out.isascii()
    assert ("Example:" in out) == (len(command) == 3)


def test_the_release_is_printed(run: Run) -> None:
    assert run("--version") == (0, f"memory-graph {__version__}\n", "")


def test_debug_shows_where_a_refusal_came_from(run: Run) -> None:
    code, _, err = run(*PREFIX, "capture", "--input", "none.json", "--debug")
    assert code == 2
    assert "Traceback (most recent call last)" in err
    assert "FileNotFoundError" in err
    assert err.endswith("memory-graph: cannot read none.json: No such file or directory\n")


def test_the_arguments_of_the_process_are_the_default(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["memory-graph", "--version"])
    assert run()[0] == 2
    assert main() == 0


def test_ctrl_c_during_the_start_ends_without_a_traceback() -> None:
    class Interrupted:
        def __iter__(self) -> Iterator[str]:
            raise KeyboardInterrupt

    assert main(Interrupted()) == 130  # type: ignore[arg-type]  # the start is interrupted while it is read
