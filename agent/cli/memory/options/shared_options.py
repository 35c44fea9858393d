"""The options that the commands of ``memory-graph agent conversation-memory`` share.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""

from __future__ import annotations

from typing import Annotated

import typer

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="The store: https://..., embedded:PATH, or a path. Default: RUVECTOR_SERVICE_URL, else ./memory-graph.db.",
    ),
]
SessionOption = Annotated[
    str, typer.Option("--session-id", metavar="ID", help="The session: its UUID, or its own id as it was captured.")
]
AnySessionOption = Annotated[
    str | None,
    typer.Option("--session-id", metavar="ID", help="One session: its UUID, or its own id as it was captured."),
]
ConversationOption = Annotated[
    str | None,
    typer.Option("--conversation-id", metavar="ID", help="One conversation: its UUID, or its own id as captured."),
]
FromOption = Annotated[
    str | None,
    typer.Option("--from", metavar="TIME", help="Captured at or after: 2026-03-02, or 2026-03-02T08:15:00Z."),
]
ToOption = Annotated[str | None, typer.Option("--to", metavar="TIME", help="Captured before: as --from.")]
JsonLinesOption = Annotated[bool, typer.Option("--jsonl", help="JSON Lines: one JSON document a line.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
