"""The commands of ``memory-graph`` and their options. What a command does stands in a module of its own.

Nothing but Typer is imported before a command runs: ``--help`` costs little more than Python itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Final

import typer

from agent import __version__
from agent.cli.options import TYPER, DebugOption, FormatOption, make_invocation
from agent.cli.output_format import Format
from agent.cli.store.commands import store_group
from agent.cli.terminal import OutputError, Terminal

_NAME: Final = "memory-graph"


class Source(StrEnum):
    """The formats that a capture is read from."""

    NATIVE = "native"
    OPENAI_CHAT = "openai-chat"


app = typer.Typer(**TYPER)
agent = typer.Typer(help="The agents of this product.", **TYPER)
conversation_memory = typer.Typer(
    help="The Conversation Memory Agent: captures conversations as DecisionEvents.", **TYPER
)
app.add_typer(agent, name="agent")
agent.add_typer(conversation_memory, name="conversation-memory")
app.add_typer(store_group, name="store")

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="The store: https://..., embedded:PATH, or a path. Default: RUVECTOR_SERVICE_URL, else ./memory-graph.db.",
    ),
]


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


@conversation_memory.command()
def capture(
    context: typer.Context,
    *,
    source_file: Annotated[
        str, typer.Option("--input", metavar="FILE|-", help="The capture; - is standard input. May be gzip.")
    ],
    source: Annotated[Source, typer.Option("--from", help="The format that the input is in.")] = Source.NATIVE,
    output_format: FormatOption = Format.TABLE,
    store: StoreOption = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option("--idempotency-key", metavar="KEY", help="Refuse another payload under the same key."),
    ] = None,
    debug: DebugOption = False,
) -> int:
    """Capture one conversation: it becomes exactly one DecisionEvent in the store.

    Example: memory-graph agent conversation-memory capture --input examples/native.json
    """
    # Late, as in every command: the parts of the product are loaded when one runs.
    from agent.cli.capture import CaptureCommand

    command = CaptureCommand(source_file, source.value, idempotency_key)
    return make_invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)


@conversation_memory.command()
def health(
    context: typer.Context,
    *,
    output_format: FormatOption = Format.TABLE,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """Say whether the agent and its store are up; exit code 1 if not.

    Example: memory-graph agent conversation-memory health --format json
    """
    from agent.cli.health import show_health

    return make_invocation(context, output_format, store, debug=debug).run(show_health, interrupted="interrupted")


def run(arguments: Sequence[str]) -> int:
    """Run the command line; returns the exit code. Wrong usage is 2, with a line on standard error."""
    terminal = Terminal.of_process()
    try:
        # Not Typer's standalone mode: it has exit codes of its own for a closed pipe and for Ctrl-C.
        code: int = app(arguments, prog_name=_NAME, standalone_mode=False, obj=terminal)
        return code
    except typer.TyperException as error:
        message = error.format_message().splitlines()
        # Several lines are the help text that a group without a command shows.
        if len(message) > 1:
            terminal.explain(*message)
        else:
            terminal.say(f"{message[0]} (see --help)")
        return error.exit_code
    except SystemExit:
        # What Typer does where the reader of a help text closed the pipe.
        return terminal.give_up(OutputError(BrokenPipeError()))
