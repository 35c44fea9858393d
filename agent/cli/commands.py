"""The commands of ``memory-graph`` and their options. What a command does stands in a module of its own.

Nothing but Typer is imported before a command runs: ``--help`` costs little more than Python itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Final

import typer

from agent import __version__
from agent.cli.lazy_group import lazy_group
from agent.cli.options import TYPER, invocation_at
from agent.cli.output_format import Format
from agent.cli.terminal import OutputError, Terminal

_NAME: Final = "memory-graph"
# What a shell asks for completions by.
_COMPLETING: Final = "_MEMORY_GRAPH_COMPLETE"
_FOREIGN_WORDS: Final = re.compile(r"^(Invalid value for '[^']*': )Value error, ")
_NO_CHOICE: Final = re.compile(
    r"Invalid value for '[^']*': '(?P<value>.*)' is not one of (?P<choices>'[^\n]*')\.", re.DOTALL
)
_QUOTED: Final = re.compile("'([^']*)'")


def _conversation_memory() -> typer.Typer:
    from agent.cli.memory.commands import conversation_memory

    return conversation_memory


def _store() -> typer.Typer:
    from agent.cli.store.commands import store_group

    return store_group


app = typer.Typer(**TYPER)
agent = typer.Typer(help="The agents of this product.", **TYPER)
app.add_typer(agent, name="agent")
agent.add_typer(
    typer.Typer(cls=lazy_group(_conversation_memory), **TYPER),
    name="conversation-memory",
    help="The Conversation Memory Agent: captures conversations as DecisionEvents, shows, checks and erases them.",
)
app.add_typer(
    typer.Typer(cls=lazy_group(_store), **TYPER),
    name="store",
    help="Run the store (CONTRACT 10) and look after its database.",
)


def _print_release(asked: bool) -> None:  # noqa: FBT001 - Typer calls it with the option's value
    if asked:
        typer.echo(f"{_NAME} {__version__}")
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_release, is_eager=True, help="Print the release and exit.")
    ] = False,
) -> None:
    """Capture conversations, see whether the agent and its store are up, run and look after the store."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line; returns the exit code. Wrong usage is 2, with a line on standard error."""
    terminal = Terminal.of_process()
    output_format = _asked_format(arguments)
    try:
        # Not Typer's standalone mode: it has exit codes of its own for a closed pipe and for Ctrl-C.
        code: int = app(arguments, prog_name=_NAME, standalone_mode=False, obj=terminal)
        return code
    except typer.TyperException as error:
        message = _worded(error.format_message()).splitlines()
        # Several lines are the help text that a group without a command shows.
        if len(message) > 1:
            terminal.explain(*message)
        elif output_format is Format.TABLE:
            terminal.say(f"{message[0]} (see --help)")
        else:
            invocation_at(terminal, output_format).refuse(f"{message[0]} (see --help)")
        return error.exit_code
    except OSError as error:
        # A help text that could not be written: what a command meets, its invocation deals with.
        return terminal.give_up(OutputError(error))
    except SystemExit as ended:
        if ended.code == 0 or _COMPLETING in terminal.environ:
            # How Typer ends a completion, and what it shows or installs for one.
            return 0 if ended.code == 0 else 1
        # What Typer does where the reader of a help text closed the pipe.
        return terminal.give_up(OutputError(BrokenPipeError()))


def _worded(message: str) -> str:
    """What Typer says of wrong usage, without the words of the library that it asks, and with what may be meant."""
    message = _FOREIGN_WORDS.sub(r"\1", message, count=1)
    found = _NO_CHOICE.fullmatch(message)
    if found is None:
        return message
    from difflib import get_close_matches

    close = get_close_matches(found["value"], _QUOTED.findall(found["choices"]), n=1, cutoff=0.5)
    return f"{message} Did you mean '{close[0]}'?" if close else message


def _asked_format(arguments: Sequence[str]) -> Format:
    """The format that the arguments ask for, read by eye: they may be wrong in any way, and the last one counts."""
    asked = Format.TABLE
    for place, argument in enumerate(arguments):
        if argument == "--jsonl":
            return Format.JSON
        value = argument.removeprefix("--format=")
        if argument == "--format" and place + 1 < len(arguments):
            value = arguments[place + 1]
        if value != argument and value in set(Format):
            asked = Format(value)
    return asked
