"""Shell completion as a shell asks for it: the command line as a process of its own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.cli.app import main
from tests.cli.streams import Finished, process_environment, run_process

COMPLETING = "_MEMORY_GRAPH_COMPLETE"
Complete = Callable[[Path, str], set[str]]

pytestmark = pytest.mark.slow


def answered(done: Finished) -> list[str]:
    """The lines that a shell gets; what else is printed would stand in its user's line."""
    assert (done.code, done.err) == (0, "")
    return done.out.decode().splitlines()


def in_bash(folder: Path, line: str) -> set[str]:
    words = line.split(" ")
    asked = {COMPLETING: "complete_bash", "COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    return set(answered(run_process(folder, **asked)))


def in_zsh(folder: Path, line: str) -> set[str]:
    asked = {COMPLETING: "complete_zsh", "_TYPER_COMPLETE_ARGS": line}
    text = "\n".join(answered(run_process(folder, **asked)))
    # _arguments '*: :(("capture":"Capture one..."))', or plain words where they have no help.
    inner = text.partition("((")[2] or text
    return {part.partition('":')[0].strip('"') for part in inner.rstrip("')").replace(")", "").split("\n")}


def in_fish(folder: Path, line: str) -> set[str]:
    asked = {COMPLETING: "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args", "_TYPER_COMPLETE_ARGS": line}
    return {each.partition("\t")[0] for each in answered(run_process(folder, **asked))}


@pytest.mark.parametrize("complete", [in_bash, in_zsh, in_fish])
@pytest.mark.parametrize(
    ("line", "completions"),
    [
        ("memory-graph ", {"agent", "store"}),
        ("memory-graph agent conv", {"conversation-memory"}),
        ("memory-graph agent conversation-memory cap", {"capture"}),
        ("memory-graph agent conversation-memory erase --u", {"--user-id"}),
        (
            "memory-graph agent conversation-memory capture --from op",
            {"openai-chat", "openai-responses", "openai-agents", "openinference"},
        ),
        ("memory-graph store verify --format ", {"table", "json", "yaml"}),
    ],
)
def test_commands_options_and_values_are_completed(
    complete: Complete, line: str, completions: set[str], tmp_path: Path
) -> None:
    assert complete(tmp_path, line) == completions


def test_bash_completes_what_a_user_types(tmp_path: Path) -> None:
    """The script that is shown, in a bash, with the name that it is installed under."""
    bash = shutil.which("bash")
    assert bash is not None
    script = tmp_path / "completion.sh"
    script.write_bytes(run_process(tmp_path, **{COMPLETING: "source_bash"}).out)
    command = tmp_path / "memory-graph"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m agent "$@"\n')
    command.chmod(0o755)
    typed = (
        f"source {script}\n"
        "COMP_WORDS=(memory-graph agent conversation-memory health --format '') COMP_CWORD=5\n"
        "_memory_graph_completion memory-graph\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        [bash, "--noprofile", "--norc", "-c", typed],
        cwd=tmp_path,
        env=process_environment(PATH=f"{tmp_path}:{os.environ['PATH']}"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["table", "json", "yaml"]


@pytest.mark.parametrize(("line", "code"), [("memory-graph sto", 0), ("memory-graph store backup ", 1)])
def test_fish_is_told_by_the_exit_code_alone_whether_there_is_anything(line: str, code: int, tmp_path: Path) -> None:
    asked = {COMPLETING: "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "is-args", "_TYPER_COMPLETE_ARGS": line}
    done = run_process(tmp_path, **asked)
    assert (done.code, done.out, done.err) == (code, b"", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell: str, tmp_path: Path) -> None:
    lines = answered(run_process(tmp_path, **{COMPLETING: f"source_{shell}"}))
    assert any(COMPLETING in line for line in lines)
    assert any("memory-graph" in line for line in lines)


@pytest.mark.parametrize("instruction", ["source_csh", "nonsense", "count_bash"])
def test_an_instruction_that_no_shell_gives_is_1_and_one_line(instruction: str, tmp_path: Path) -> None:
    done = run_process(tmp_path, **{COMPLETING: instruction})
    assert (done.code, done.out, done.err.count("\n")) == (1, b"", 1)
    assert "not supported" in done.err or "Invalid" in done.err


def test_the_script_is_shown_for_the_shell_that_asks(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        # Not the last command: bash would become it, and no shell be left to find.
        [bash, "-c", '"$0" -m agent --show-completion; exit $?', sys.executable],
        cwd=tmp_path,
        env=process_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "complete -o default -F _memory_graph_completion memory-graph" in done.stdout


def test_installing_writes_to_the_home_folder_alone(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        [bash, "-c", '"$0" -m agent --install-completion; exit $?', sys.executable],
        cwd=tmp_path,
        env=process_environment(HOME=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()) == [
        ".bash_completions/memory-graph.sh",
        ".bashrc",
    ]


def test_completion_ends_in_this_process_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(COMPLETING, "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "memory-graph sto")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert main([]) == 0
    assert capsys.readouterr() == ("store\n", "")
    monkeypatch.setenv(COMPLETING, "complete_csh")
    assert main([]) == 1
