"""``clear``, ``prune`` and ``erase``: the commands that take away.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.memory.options.shared_options import (
    AnySessionOption,
    ConversationOption,
    SessionOption,
    StoreOption,
    YesOption,
)
from agent.cli.options import DebugOption, FormatOption, make_invocation
from agent.cli.output_format import Format


def clear(
    context: typer.Context,
    *,
    session: SessionOption,
    conversation: ConversationOption = None,
    everything: Annotated[bool, typer.Option("--all", help="The system turns leave the history too.")] = False,
    yes: YesOption = False,
    output_format: FormatOption = Format.TABLE,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """Empty a session's history and state from here on.

    The system turns stay without --all. The log keeps every turn: erase takes content away. This holds for writers
    that send what is new (a delta, native turns without a parent): a client that sends its whole list again says what
    its history is.

    Example: memory-graph agent conversation-memory clear --session-id chat-7 --yes
    """
    from agent.ambient import new_id
    from agent.cli.memory.taking_away.clear import ClearCommand

    command = ClearCommand(session, conversation, everything=everything, yes=yes, new_id=new_id)
    return make_invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)


def prune(
    context: typer.Context,
    *,
    session: SessionOption,
    keep: Annotated[
        int,
        typer.Option(
            "--keep", metavar="N", min=0, max=1_000_000, help="So many messages, and the calls of results among them."
        ),
    ] = 10,
    conversation: ConversationOption = None,
    yes: YesOption = False,
    output_format: FormatOption = Format.TABLE,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """Cut a session's history to its newest messages.

    System turns and state stay, and so does the call of each result that stays. The log keeps every turn: erase takes
    content away. This holds for writers that send what is new (a delta, native turns without a parent): a client that
    sends its whole list again says what its history is.

    Example: memory-graph agent conversation-memory prune --session-id chat-7 --keep 10 --yes
    """
    from agent.ambient import new_id
    from agent.cli.memory.taking_away.prune import PruneCommand

    command = PruneCommand(session, conversation, keep=keep, yes=yes, new_id=new_id)
    return make_invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)


def erase(
    context: typer.Context,
    *,
    session: AnySessionOption = None,
    turn: Annotated[str | None, typer.Option("--turn-id", metavar="UUID", help="One turn, by its UUID.")] = None,
    user: Annotated[
        str | None, typer.Option("--user-id", metavar="NAME", help="All that came with this context.user_id.")
    ] = None,
    yes: YesOption = False,
    output_format: FormatOption = Format.TABLE,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """Erase the content of a session, a turn or a user, for good.

    It leaves the store's files. Ids, hashes and counts stay, so that what comes again is known. The store's key needs
    the role admin.

    Example: memory-graph agent conversation-memory erase --session-id chat-7 --yes
    """
    from agent.cli.memory.taking_away.erase import EraseCommand

    command = EraseCommand(session, turn, user, yes=yes)
    return make_invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)
