"""The options that several commands share, and the invocation that they make.

Nothing but Typer is imported before a command runs: ``--help`` costs little more than Python itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli.output_format import Format

if TYPE_CHECKING:
    from agent.cli.invocation import Invocation
    from agent.cli.terminal import Terminal

# rich_markup_mode None: Rich's help costs more time than all the rest of --help.
TYPER: dict[str, Any] = {
    "no_args_is_help": True,
    "context_settings": {"help_option_names": ["-h", "--help"]},
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}

FormatOption = Annotated[Format, typer.Option("--format", help="How to print the results.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show where a failure came from. May print content.")]


def make_invocation(
    context: typer.Context, output_format: Format, store: str | None, *, debug: bool, jsonl: bool = False
) -> Invocation:
    """What a command is run with, on the process's terminal. ``jsonl`` is a form of JSON, and wins over the format."""
    return invocation_at(context.obj, Format.JSON if jsonl else output_format, store, debug=debug, jsonl=jsonl)


def invocation_at(
    terminal: Terminal, output_format: Format, store: str | None = None, *, debug: bool = False, jsonl: bool = False
) -> Invocation:
    """The same on any terminal: the options, with a reference and a clock of its own."""
    import logging

    # Late: the parts of the product are loaded when a command runs.
    from agent.ambient import new_id, utc_now
    from agent.cli.invocation import Invocation

    if not debug:
        # What the parts log is for those who run a service; here a failure is one line.
        logging.getLogger().addHandler(logging.NullHandler())
    return Invocation(
        terminal=terminal,
        format=output_format,
        debug=debug,
        store=store,
        execution_ref=new_id(),
        clock=utc_now,
        jsonl=jsonl,
    )
