"""``history``: the command that shows what was said in a session.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.memory.options.shared_options import (
    ConversationOption,
    JsonLinesOption,
    SessionOption,
    StoreOption,
)
from agent.cli.options import DebugOption, FormatOption, make_invocation
from agent.cli.output_format import Format


def history(
    context: typer.Context,
    *,
    session_id: SessionOption,
    conversation_id: ConversationOption = None,
    leaf: Annotated[
        str | None,
        typer.Option(
            "--leaf", metavar="TURN_ID", help="The branch that ends with this turn; default: the current one."
        ),
    ] = None,
    last: Annotated[
        int | None, typer.Option("--last", metavar="N", min=1, help="Only the newest N turns of it.")
    ] = None,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Each turn whole, with model, agent, tokens and metadata. JSON and YAML have all of it anyway.",
        ),
    ] = False,
    output_format: FormatOption = Format.TABLE,
    jsonl: JsonLinesOption = False,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """Show what a reader sees of a session.

    That is the current branch of each conversation, since the last reset. What was cleared, pruned or left on
    another branch is not shown, and is in the log all the same: see retrieve.

    Example: memory-graph agent conversation-memory history --session-id 3f1c9a52-7d0e-4c57-9b1e-5a0f6b7c8d21 --last 10
    """
    from agent.cli.memory.sessions.history import HistoryCommand

    command = HistoryCommand(session_id, conversation_id, leaf, last, verbose)
    invocation = make_invocation(context, output_format, store, debug=debug, jsonl=jsonl)
    return invocation.run(command, interrupted=command.interrupted)
