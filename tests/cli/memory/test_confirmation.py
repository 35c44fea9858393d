import io

import pytest

from agent.cli.exit_codes import ExitCode
from agent.cli.memory.taking_away.confirmation import Confirmation, counted
from agent.cli.terminal import Terminal
from agent.errors import ValidationError
from tests.cli.memory.taking_away import Keyboard, at_keyboard
from tests.cli.streams import Screen, printed, terminal


def asked(typed: bytes | None, question: str = "erase 2 turns?") -> tuple[ExitCode | None, str]:
    """How the question ends, and what stands on standard error."""
    at = at_keyboard(typed)
    ended = Confirmation.at(at, command="erase", yes=False).ask(question)
    assert printed(at)[0] == ""
    return ended, printed(at)[1]


@pytest.mark.parametrize("typed", [b"y\n", b"Y\n", b"yes\r\n", b"  YES \n"])
def test_y_and_yes_go_on(typed: bytes) -> None:
    assert asked(typed) == (None, "erase 2 turns? [y/N] ")


@pytest.mark.parametrize("typed", [b"\n", b"n\n", b"yep\n", b"y y\n", b"\xff\n", b"no, please\n"])
def test_anything_else_ends_with_2_and_nothing_done(typed: bytes) -> None:
    assert asked(typed) == (ExitCode.USAGE, "erase 2 turns? [y/N] memory-graph: nothing was done\n")


@pytest.mark.parametrize("typed", [b"", b"n", b"y" * 1000])
def test_an_end_of_input_leaves_the_line_first(typed: bytes) -> None:
    assert asked(typed) == (ExitCode.USAGE, "erase 2 turns? [y/N] \nmemory-graph: nothing was done\n")


def test_ctrl_c_is_130_and_nothing_done() -> None:
    line = "erase 2 turns? [y/N] \nmemory-graph: interrupted: nothing was done\n"
    assert asked(None) == (ExitCode.INTERRUPTED, line)


def test_a_name_in_the_question_cannot_act_on_the_terminal() -> None:
    assert asked(b"y\n", "erase \x1b[2Juser\u202e?")[1] == "erase \\x1b[2Juser\\u202e? [y/N] "


def test_a_name_that_the_terminal_cannot_write_is_escaped() -> None:
    at = Terminal({}, Keyboard(b"y\n"), Screen(), Screen("ascii", tty=True))
    assert Confirmation.at(at, command="erase", yes=False).ask("erase Zoë?") is None
    assert printed(at)[1] == "erase Zo\\xeb? [y/N] "


def test_with_yes_nothing_is_asked_wherever_it_runs() -> None:
    at = terminal()
    assert Confirmation.at(at, command="erase", yes=True).ask("erase?") is None
    assert printed(at) == ("", "")


@pytest.mark.parametrize(
    "at",
    [
        terminal(),
        terminal(stdin=None),
        Terminal({}, Keyboard(b"y\n"), Screen(tty=True), Screen()),
        Terminal({}, io.BytesIO(b"y\n"), Screen(tty=True), Screen(tty=True)),
    ],
)
def test_without_a_terminal_on_both_sides_yes_is_needed(at: Terminal) -> None:
    with pytest.raises(ValidationError, match=r"^erase needs --yes: there is no terminal to ask at$"):
        Confirmation.at(at, command="erase", yes=False)


def test_one_is_no_plural() -> None:
    assert [counted(number, "turn") for number in (0, 1, 2)] == ["0 turns", "1 turn", "2 turns"]
