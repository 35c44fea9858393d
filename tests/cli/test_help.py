"""``--help`` of every command and group, found by walking them: none can be added without."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from agent.cli.app import main
from agent.cli.commands import app
from tests.cli.streams import run_process

Path_ = tuple[str, ...]
# What writes one kind of thing, whoever reads it: a server its lines, a ledger its own.
_WITHOUT_FORMAT = {("store", "serve"), ("store", "erasures")}


def walked(command: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    yield path, command
    # A group makes its commands when it is asked for them.
    for name in command.list_commands(None) if hasattr(command, "commands") else ():
        yield from walked(command.get_command(None, name), (*path, name))


ALL = dict(walked(typer.main.get_command(app)))
COMMANDS = [path for path, command in ALL.items() if not hasattr(command, "commands")]


@pytest.fixture
def helped(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The help of a command; that it is a result and no failure is checked."""

    def help_of(*path: str, option: str = "--help") -> str:
        assert main([*path, option]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return help_of


def test_the_walk_finds_the_commands() -> None:
    assert {("store", "serve"), ("agent", "conversation-memory", "capture")} <= set(COMMANDS)


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_help_is_ascii_and_fits_80_columns(path: Path_, helped: Callable[..., str]) -> None:
    out = helped(*path)
    assert out.isascii()
    assert [line for line in out.splitlines() if len(line) > 80] == []
    assert out.startswith(" ".join(["Usage: memory-graph", *path, "[OPTIONS]"]))
    assert helped(*path, option="-h") == out


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_one_example_of_itself_at_the_end_of_what_it_says(
    path: Path_, helped: Callable[..., str]
) -> None:
    text = helped(*path).partition("\nOptions:\n")[0].partition("\nArguments:\n")[0]
    *_, last = (" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))
    assert re.fullmatch(rf"Example: (?:[A-Z_]+=\S+ )*memory-graph {' '.join(path)}(?: .+)?", last)
    assert text.count("Example:") == 1


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_options_of_an_example_are_options_of_its_command(path: Path_, helped: Callable[..., str]) -> None:
    text, _, options = helped(*path).partition("\nOptions:\n")
    example = " ".join(text.partition("Example:")[2].split()).partition(" ".join(["memory-graph", *path]))[2]
    # What follows a pipe or a greater-than sign is another program's.
    ours = re.split(r"[|>]", example)[0]
    known = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", options))
    assert set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", ours)) <= known


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_option_says_what_it_is_for(path: Path_) -> None:
    assert [parameter.name for parameter in ALL[path].params if not getattr(parameter, "help", None)] == []


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_debug_and_what_prints_data_has_a_format(path: Path_) -> None:
    options = {option for parameter in ALL[path].params for option in parameter.opts}
    assert "--debug" in options
    assert ("--format" in options) == (path not in _WITHOUT_FORMAT)


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["20", "200"])
def test_a_terminal_s_width_changes_no_exit_code(columns: str, tmp_path: Path) -> None:
    done = run_process(tmp_path, "agent", "conversation-memory", "capture", "--help", COLUMNS=columns)
    assert (done.code, done.err) == (0, "")
    assert done.out.isascii()
