"""The question before something is taken away, at a real terminal: a process with a pseudo-terminal for a keyboard."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.cli.memory.taking_away import ROLES, SESSION, capture, turns_of
from tests.cli.streams import PREFIX, command_line, process_environment, run_process

ERASE = (*PREFIX, "erase", "--store", "store.db", "--session-id", SESSION)
QUESTION = f"erase 5 turns of session {SESSION}? [y/N] "

pytestmark = pytest.mark.slow


def answered(folder: Path, typed: bytes) -> tuple[int, bytes, str]:
    """Erase at a terminal and type when asked: the exit code, standard output, and what the terminal shows."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        # Ctrl-C reaches the processes of the session whose terminal it is.
        ["setsid", "--ctty", "--wait", *command_line(*ERASE)],
        cwd=folder,
        env=process_environment(),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while QUESTION.encode() not in shown:
        shown += os.read(ours, 1000)
    os.write(ours, typed)
    out, _ = process.communicate(timeout=30)
    shown += _rest(ours)
    return process.returncode, out, shown.decode().replace("\r\n", "\n")


def _rest(terminal: int) -> bytes:
    shown = b""
    try:
        while more := os.read(terminal, 1000):
            shown += more
    except OSError:
        # How Linux says that nobody has the other end open.
        pass
    finally:
        os.close(terminal)
    return shown


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    capture(tmp_path / "store.db", *ROLES)
    return tmp_path


def erased(folder: Path) -> bool:
    return all(turn.erased for turn in turns_of(folder / "store.db"))


def test_y_erases_and_only_the_receipt_is_on_standard_output(folder: Path) -> None:
    code, out, shown = answered(folder, b"y\n")
    assert (code, shown) == (0, f"{QUESTION}y\n")
    assert out.startswith(b"erased    session ")
    assert erased(folder)


@pytest.mark.parametrize(
    ("typed", "code", "line"),
    [
        (b"n\n", 2, "n\nmemory-graph: nothing was done\n"),
        (b"\n", 2, "\nmemory-graph: nothing was done\n"),
        (b"\x04", 2, "\nmemory-graph: nothing was done\n"),
        (b"\x03", 130, "^C\nmemory-graph: interrupted: nothing was done\n"),
    ],
)
def test_no_the_end_of_input_and_ctrl_c_erase_nothing(typed: bytes, code: int, line: str, folder: Path) -> None:
    assert answered(folder, typed) == (code, b"", QUESTION + line)
    assert not erased(folder)


def test_a_pipe_is_asked_nothing(folder: Path) -> None:
    done = run_process(folder, *ERASE, stdin=b"y\n")
    assert (done.code, done.out) == (2, b"")
    assert done.err == "memory-graph: erase needs --yes: there is no terminal to ask at\n"
    assert not erased(folder)
