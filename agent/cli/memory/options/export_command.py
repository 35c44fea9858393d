"""``export``: a session in a format that others read.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from agent.cli.memory.options.shared_options import ConversationOption, JsonLinesOption, SessionOption, StoreOption
from agent.cli.options import DebugOption, make_invocation
from agent.cli.output_format import Format
from agent.formats import WRITES, WriteName

Target = Literal["native", WriteName, "markdown", "text"]
_TO = f"The format to write: native, {', '.join(WRITES)}, markdown, text."


def export(
    context: typer.Context,
    *,
    session: SessionOption,
    conversation: ConversationOption = None,
    target: Annotated[Target, typer.Option("--to", metavar="FORMAT", help=_TO)] = "native",
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE|-", help="Where to; - is standard output.")
    ] = "-",
    force: Annotated[bool, typer.Option("--force", help="Write over the file if it exists.")] = False,
    jsonl: JsonLinesOption = False,
    output_format: Annotated[
        Format, typer.Option("--format", help="How to print what was written to a file.")
    ] = Format.TABLE,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """Write a session in a format that others read.

    native is every turn, exactly: captured again it is the same session. The others are its history as a reader sees
    it; what they cannot say is counted on standard error, and with -o in the results.

    Example: memory-graph agent conversation-memory export --session-id chat-7 --to markdown -o chat-7.md
    """
    from agent.cli.memory.sessions.export import ExportCommand

    command = ExportCommand(session, conversation, target, output, force=force)
    invocation = make_invocation(context, output_format, store, debug=debug, jsonl=jsonl)
    return invocation.run(command, interrupted=command.interrupted)
