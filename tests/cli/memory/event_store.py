"""Stores with a few events of every kind, the same on every run, and commands run on them in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.output_format import Format
from agent.cli.terminal import Terminal
from agent.core.ids import session_uuid
from store.engines.sqlite import SqliteStore
from tests.cli.streams import EXAMPLE, invocation, printed, terminal
from tests.store.filled import MESSAGES, Filling

Ended = tuple[ExitCode, str, str]
GOLDEN = Path(__file__).parent / "golden"
PLAN = {
    "type": "plan_approved",
    "runId": "plan / 7?",
    "source": "planner",
    "timestamp": "2026-03-02T10:15:00+02:00",
    "payload": {"agent_id": "planner", "decision_type": "plan_approved", "steps": [1.50, 10**40, "Zürich ✅"]},
}
ERASED = {
    "session_id": "chat-9",
    "messages": [{"role": "user", "content": "SECRET-71b"}, {"role": "assistant", "content": "gone too"}],
}


def with_store(path: Path, *fill: Callable[[Filling], Any]) -> Path:
    """A store at ``path``, filled by each of ``fill``."""
    store = SqliteStore(str(path))
    try:
        filling = Filling(store)
        for each in fill:
            each(filling)
    finally:
        store.close()
    return path


def every_kind(filling: Filling) -> None:
    """A native capture, a chat with a tool call, another agent's event, an erased session: positions 1 to 4."""
    filling.capture(json.loads(EXAMPLE.read_bytes()))
    filling.capture({"session_id": "chat-7", "messages": MESSAGES}, "openai-chat")
    filling.post(PLAN)
    filling.capture(ERASED, "openai-chat")
    filling.erase("session", session_uuid("chat-9"))


def references(path: Path) -> list[str]:
    """The execution refs of all events, in order."""
    found: list[str] = []
    with_store(path, lambda filling: found.extend(each["runId"] for each in envelopes_of(filling)))
    return found


def envelopes(path: Path) -> list[dict[str, Any]]:
    """All events, in order."""
    found: list[dict[str, Any]] = []
    with_store(path, lambda filling: found.extend(envelopes_of(filling)))
    return found


def envelopes_of(filling: Filling) -> list[dict[str, Any]]:
    return list(filling.get("/v1/decision-events", limit=1000)["events"])


def ran(
    command: Callable[[Invocation], ExitCode],
    store: Path | str,
    output_format: Format = Format.TABLE,
    *,
    jsonl: bool = False,
    at: Terminal | None = None,
) -> Ended:
    """Run ``command`` on ``store``: the exit code, the results, and all else that was printed."""
    at = at or terminal(environ={"RUVECTOR_DEADLINE_S": "1"})
    run = replace(invocation(at, Format.JSON if jsonl else output_format, store=str(store)), jsonl=jsonl)
    return run.run(command, interrupted=command.interrupted), *printed(at)  # type: ignore[attr-defined]  # every command has it
