"""``graph``: a session's graph, over all its captures and branches.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.memory.drawings.form import Form
from agent.cli.memory.options.shared_options import ConversationOption, SessionOption, StoreOption
from agent.cli.options import DebugOption, FormatOption, make_invocation
from agent.cli.output_format import Format


def graph(
    context: typer.Context,
    *,
    session_id: SessionOption,
    conversation_id: ConversationOption = None,
    form: Annotated[
        Form | None,
        typer.Option(
            "--as",
            help="A tree for people; text for Mermaid or Graphviz; nodes and edges as JSON. Default: tree.",
            show_default=False,
        ),
    ] = None,
    output_format: FormatOption = Format.TABLE,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """Show the turns, branches and calls of a session.

    The tree marks the turns of the current history with *. A conversation is shown with the turns that it continues.
    With --format json or yaml, and with --as json, the nodes and edges are one document without content.

    Example: memory-graph agent conversation-memory graph --session-id chat-7 --as mermaid
    """
    from agent.cli.memory.drawings.graph import GraphCommand

    command = GraphCommand(session_id, conversation_id, form)
    if form is Form.JSON and output_format is Format.TABLE:
        output_format = Format.JSON
    return make_invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)
