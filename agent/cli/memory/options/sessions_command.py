"""``sessions``: the command that finds a session.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.memory.options.shared_options import ConversationOption, JsonLinesOption, StoreOption
from agent.cli.options import DebugOption, FormatOption, make_invocation
from agent.cli.output_format import Format


def sessions(
    context: typer.Context,
    *,
    user_id: Annotated[
        str | None, typer.Option("--user-id", metavar="NAME", help="Sessions of this user, as captures name them.")
    ] = None,
    agent_id: Annotated[
        str | None, typer.Option("--agent-id", metavar="NAME", help="Sessions that this agent spoke in.")
    ] = None,
    tag: Annotated[str | None, typer.Option("--tag", metavar="TAG", help="Sessions with this tag.")] = None,
    conversation_id: ConversationOption = None,
    search: Annotated[
        str | None, typer.Option("--search", metavar="TEXT", help="Sessions with all of these words, each whole.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="Last active at or after: 2026-03-02, or 2026-03-02T08:15:00Z."),
    ] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="TIME", help="Last active before: as --from.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many sessions at most, of any number.")] = 100,
    jsonl: JsonLinesOption = False,
    output_format: FormatOption = Format.TABLE,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """List sessions, newest activity first.

    Each with its UUID, the id that its captures gave it, and the first words of its user.

    Example: memory-graph agent conversation-memory sessions --search "parcel 4471" --limit 20
    """
    from agent.cli.memory.sessions.sessions import SessionsCommand

    command = SessionsCommand(
        limit=limit,
        user_id=user_id,
        agent_id=agent_id,
        tag=tag,
        conversation_id=conversation_id,
        search=search,
        since=since,
        until=until,
    )
    invocation = make_invocation(context, output_format, store, debug=debug, jsonl=jsonl)
    return invocation.run(command, interrupted=command.interrupted)
