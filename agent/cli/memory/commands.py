"""All commands of ``memory-graph agent conversation-memory``, in the order that its help lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import typer

from agent.cli.memory.options.capture_commands import capture
from agent.cli.memory.options.check_commands import health, replay, verify
from agent.cli.memory.options.embed_command import embed
from agent.cli.memory.options.event_commands import inspect, retrieve, tail
from agent.cli.memory.options.export_command import export
from agent.cli.memory.options.graph_command import graph
from agent.cli.memory.options.import_command import import_
from agent.cli.memory.options.privacy_commands import clear, erase, prune
from agent.cli.memory.options.session_commands import history
from agent.cli.memory.options.sessions_command import sessions
from agent.cli.memory.options.window_commands import context, stats
from agent.cli.options import TYPER

COMMANDS: Final[tuple[Callable[..., int], ...]] = (
    capture,
    import_,
    inspect,
    retrieve,
    tail,
    sessions,
    history,
    context,
    stats,
    graph,
    export,
    health,
    replay,
    verify,
    embed,
    clear,
    prune,
    erase,
)

conversation_memory = typer.Typer(**TYPER)
for _command in COMMANDS:
    # A name that Python keeps for itself ends in an underscore.
    conversation_memory.command(_command.__name__.rstrip("_"))(_command)
