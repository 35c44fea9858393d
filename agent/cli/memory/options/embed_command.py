"""``embed``: the command that computes vectors ahead of who reads.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.memory.options.shared_options import StoreOption
from agent.cli.options import DebugOption, FormatOption, make_invocation
from agent.cli.output_format import Format


def embed(
    context: typer.Context,
    *,
    follow: Annotated[
        bool, typer.Option("--follow/--once", help="Wait for new events until Ctrl-C, or end where there are no more.")
    ] = True,
    since: Annotated[
        int | None,
        typer.Option("--since", min=0, metavar="POSITION", help="Events beyond it. Default: where the last run ended."),
    ] = None,
    interval: Annotated[
        float, typer.Option("--interval", metavar="SECONDS", help="How long to wait where nothing is new.")
    ] = 1.0,
    output_format: FormatOption = Format.TABLE,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """Compute the vectors of turns whose captures asked for embeddings.

    Needs the extra [semantic], and SEMANTIC_MODEL and SEMANTIC_CACHE. The vectors go into that folder, never into the
    store; those of erased turns are taken out of it.

    Example: memory-graph agent conversation-memory embed --once
    """
    from agent.cli.memory.semantic.embed import EmbedCommand

    command = EmbedCommand(follow, since, interval)
    return make_invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)
