"""Commands of ``memory-graph store`` run in this process, and stores for them to look after."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.output_format import Format
from store.urls import open_store
from tests.cli.streams import invocation, printed, terminal
from tests.store.surface import Surface

Ended = tuple[ExitCode, str, str]


def run(
    command: Callable[[Invocation], ExitCode],
    store: Path | str | None,
    output_format: Format = Format.JSON,
    *,
    environ: Mapping[str, str] | None = None,
) -> Ended:
    """Run ``command`` on ``store``: the exit code, the results, and all else that was printed."""
    at = terminal(environ=environ)
    given = None if store is None else str(store)
    code = invocation(at, output_format, store=given).run(command, interrupted="interrupted")
    return code, *printed(at)


def capture(surface: Surface, *contents: str, session: str | None = None, user: str = "ann", **event: str) -> str:
    """Capture a turn for each of ``contents``; the session's id. ``event`` are members of the event."""
    session = session or str(uuid.uuid4())
    turns = [
        {"turn_id": str(uuid.uuid4()), "role": "user", "content": content, "timestamp": "2026-03-02T08:15:00Z"}
        for content in contents
    ]
    payload = {
        "session_id": session,
        "conversation_id": str(uuid.uuid4()),
        "turns": turns,
        "context": {"user_id": user},
    }
    surface.capture(payload, execution_ref=str(uuid.uuid4()), **event)
    return session


def filled(path: Path, *contents: str) -> str:
    """A store at ``path`` with one session; its id."""
    surface = Surface(open_store(f"sqlite:///{path}"))
    try:
        return capture(surface, *(contents or ("hello", "again")))
    finally:
        surface.close()
