"""The commands of ``memory-graph`` and their options. What a command does stands in a module of its own.

Nothing but Typer is imported before a command runs: ``--help`` costs little more than Python itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from agent import __version__
from agent.cli.output_format import Format
from agent.cli.terminal import OutputError, Terminal

if TYPE_CHECKING:
    from agent.cli.invocation import Invocation

_NAME: Final = "memory-graph"


class Source(StrEnum):
    """The formats that a capture is read from."""

    NATIVE = "native"
    OPENAI_CHAT = "openai-chat"


# rich_markup_mode None: Rich's help costs more time than all the rest of --help.
_TYPER: dict[str, Any] = {
    "no_args_is_help": True,
    "context_settings": {"help_option_names": ["-h", "--help"]},
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}

app = typer.Typer(**_TYPER)
agent = typer.Typer(help="The agents of this product.", **_TYPER)
conversation_memory = typer.Typer(
    help="The Conversation Memory Agent: captures conversations as DecisionEvents.", **_TYPER
)
app.add_typer(agent, name="agent")
agent.add_typer(conversation_memory, name="conversation-memory")

FormatOption = Annotated[Format, typer.Option("--format", help="How to print the results.")]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="The store: https://..., embedded:PATH, or a path. Default: RUVECTOR_SERVICE_URL, else ./memory-graph.db.",
    ),
]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show where a failure came from. May print content.")]


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
    """Capture conversations, and see whether the agent and its store are up."""


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
    return _invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)


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

    return _invocation(context, output_format, store, debug=debug).run(show_health, interrupted="interrupted")


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


def _invocation(context: typer.Context, output_format: Format, store: str | None, *, debug: bool) -> Invocation:
    import logging

    from agent.bootstrap import new_id, utc_now
    from agent.cli.invocation import Invocation

    if not debug:
        # What the parts log is for those who run a service; here a failure is one line.
        logging.getLogger().addHandler(logging.NullHandler())

    return Invocation(
        terminal=context.obj, format=output_format, debug=debug, store=store, execution_ref=new_id(), clock=utc_now
    )
