"""``inspect``, ``retrieve`` and ``tail``: the commands that show DecisionEvents.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""

from __future__ import annotations

from enum import StrEnum
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


class Order(StrEnum):
    """In which order events are listed."""

    ASC = "asc"
    DESC = "desc"


def inspect(
    context: typer.Context,
    execution_ref: Annotated[str, typer.Argument(metavar="EXECUTION_REF", help="The event, as its capture named it.")],
    *,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Everything: the inputs, and all nodes and edges by their ids.")
    ] = False,
    output_format: FormatOption = Format.TABLE,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """Show one DecisionEvent: its facts and its graph.

    Without --verbose a JSON or YAML document leaves out the inputs.

    Example: memory-graph agent conversation-memory inspect 5b1f0a52-3c1d-4f0e-9a55-2d6c8e7f9a10 --verbose
    """
    from agent.cli.memory.events.inspect_event import InspectCommand

    command = InspectCommand(execution_ref, verbose)
    return make_invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)


def retrieve(
    context: typer.Context,
    *,
    session_id: AnySessionOption = None,
    conversation_id: ConversationOption = None,
    since: FromOption = None,
    until: ToOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many events at most, of any number.")] = 100,
    order: Annotated[Order, typer.Option("--order", help="Oldest first, or newest first.")] = Order.ASC,
    agent_id: Annotated[
        str | None, typer.Option("--agent-id", metavar="NAME", help="Events of this agent alone.")
    ] = None,
    decision_type: Annotated[
        str | None, typer.Option("--decision-type", metavar="NAME", help="Events of this decision type alone.")
    ] = None,
    jsonl: JsonLinesOption = False,
    output_format: FormatOption = Format.TABLE,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """List DecisionEvents in the order they were stored.

    As JSON and YAML each is as it is stored.

    Example: memory-graph agent conversation-memory retrieve --from 2026-03-02 --order desc --limit 20
    """
    from agent.cli.memory.events.retrieve import RetrieveCommand

    command = RetrieveCommand(
        limit=limit,
        order=order.value,
        session_id=session_id,
        conversation_id=conversation_id,
        since=since,
        until=until,
        agent_id=agent_id,
        decision_type=decision_type,
    )
    invocation = make_invocation(context, output_format, store, debug=debug, jsonl=jsonl)
    return invocation.run(command, interrupted=command.interrupted)


def tail(
    context: typer.Context,
    *,
    session_id: AnySessionOption = None,
    last: Annotated[
        int, typer.Option("--last", min=0, max=1000, help="How many of the newest events to show first.")
    ] = 10,
    interval: Annotated[
        float, typer.Option("--interval", metavar="SECONDS", help="How long to wait where nothing is new.")
    ] = 1.0,
    count: Annotated[
        int | None, typer.Option("--count", min=1, metavar="N", help="End after so many events, the first included.")
    ] = None,
    jsonl: JsonLinesOption = False,
    output_format: FormatOption = Format.TABLE,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """Show the newest DecisionEvents, then each new one.

    It follows the store until Ctrl-C, or until --count events.

    Example: memory-graph agent conversation-memory tail --last 0 --count 1
    """
    from agent.cli.memory.events.tail import TailCommand

    command = TailCommand(session_id, last, interval, count)
    invocation = make_invocation(context, output_format, store, debug=debug, jsonl=jsonl)
    return invocation.run(command, interrupted=command.interrupted)
