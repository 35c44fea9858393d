"""``health``, ``replay`` and ``verify``: the commands that say whether all is as it should be.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""

from __future__ import annotations

import typer

from agent.cli.memory.group import StoreOption, conversation_memory
from agent.cli.options import DebugOption, FormatOption, make_invocation
from agent.cli.output_format import Format


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
    from agent.cli.memory.health import show_health

    return make_invocation(context, output_format, store, debug=debug).run(show_health, interrupted="interrupted")
