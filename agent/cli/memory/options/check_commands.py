"""``health``, ``replay`` and ``verify``: the commands that say whether all is as it should be.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.memory.options.shared_options import (
    AnySessionOption,
    ConversationOption,
    FromOption,
    JsonLinesOption,
    StoreOption,
    ToOption,
)
from agent.cli.options import DebugOption, FormatOption, make_invocation
from agent.cli.output_format import Format


def health(
    context: typer.Context,
    *,
    output_format: FormatOption = Format.TABLE,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """Say whether agent and store are up; exit code 1 if not.

    Example: memory-graph agent conversation-memory health --format json
    """
    from agent.cli.memory.checking.health import show_health

    return make_invocation(context, output_format, store, debug=debug).run(show_health, interrupted="interrupted")


def replay(
    context: typer.Context,
    execution_ref: Annotated[
        str | None, typer.Argument(metavar="[EXECUTION_REF]", help="The event, as its capture named it.")
    ] = None,
    *,
    session_id: AnySessionOption = None,
    conversation_id: ConversationOption = None,
    since: FromOption = None,
    until: ToOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Compare, and append nothing.")] = False,
    into: Annotated[
        str | None, typer.Option("--into", metavar="URL", help="Append copies to this store, as --store names one.")
    ] = None,
    key_variable: Annotated[
        str, typer.Option("--into-key-env", metavar="NAME", help="The variable that holds that store's key.")
    ] = "INTO_API_KEY",
    jsonl: JsonLinesOption = False,
    output_format: FormatOption = Format.TABLE,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """Rebuild events from their inputs, compare, append again.

    Appended to the same store an event is a duplicate. With --into and neither event nor filter, every event is
    copied. Exit code 3 if one differs; 5 if none can be rebuilt (erased, without inputs, of another agent) or none is
    there, 4 if some cannot.

    Example: memory-graph agent conversation-memory replay 5b1f0a52-3c1d-4f0e-9a55-2d6c8e7f9a10 --dry-run
    """
    from agent.cli.memory.checking.replay import ReplayCommand

    command = ReplayCommand(
        execution_ref,
        session_id=session_id,
        conversation_id=conversation_id,
        since=since,
        until=until,
        dry_run=dry_run,
        into=into,
        key_variable=key_variable,
    )
    invocation = make_invocation(context, output_format, store, debug=debug, jsonl=jsonl)
    return invocation.run(command, interrupted=command.interrupted)


def verify(
    context: typer.Context,
    *,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Differences to show; all are counted.")] = 100,
    session_id: AnySessionOption = None,
    since: FromOption = None,
    until: ToOption = None,
    output_format: FormatOption = Format.TABLE,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """Replay every event and append nothing.

    Shows counts, and the first differences. Exit code 3 if an event differs.

    Example: memory-graph agent conversation-memory verify --limit 10
    """
    from agent.cli.memory.checking.verify import VerifyCommand

    command = VerifyCommand(limit, session_id, since, until)
    return make_invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)
