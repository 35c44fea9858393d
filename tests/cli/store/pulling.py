"""Pulls in this process for tests of ``store pull``, and what they wrote."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from agent.bootstrap import store_client
from agent.cli.exit_codes import ExitCode
from agent.cli.output_format import Format
from agent.cli.store.pull import PullCommand
from agent.config import Settings
from agent.ruvector.client import RuvectorClient
from tests.cli.streams import invocation, printed, terminal

KEY = "key-of-the-other-store"
DIGITS = b"12345678901234567890123456789012345678901.50"


def note(number: int, **more: Any) -> bytes:
    """An event of another writer."""
    event = {"type": "note", "runId": f"r-{number}", "timestamp": "2026-03-02T08:15:00Z", "payload": {"n": number}}
    return json.dumps({**event, **more}).encode()


def pulled(
    source: str,
    target: Path | str | None,
    output_format: Format = Format.JSON,
    *,
    environ: dict[str, str] | None = None,
    after: str | None = None,
    page: int = 2,
    types: str = "",
    dry_run: bool = False,
    source_tenant: str | None = None,
    tenant: str | None = None,
) -> tuple[ExitCode, str, str]:
    """Pull, and return the exit code, the results, and all else that was printed."""
    at = terminal(environ={"PULL_API_KEY": KEY, "RUVECTOR_DEADLINE_S": "1", **(environ or {})})
    command = PullCommand(
        source,
        key_variable="PULL_API_KEY",
        types=types,
        after=after,
        page=page,
        dry_run=dry_run,
        source_tenant=source_tenant,
        tenant=tenant,
    )
    code = invocation(at, output_format, store=None if target is None else str(target)).run(
        command, interrupted=command.interrupted
    )
    return code, *printed(at)


def client_of(path: Path) -> RuvectorClient:
    return store_client(Settings.from_env({"RUVECTOR_SERVICE_URL": f"embedded:{path}"}))


def stored(path: Path) -> list[bytes]:
    """What the store at ``path`` feeds."""
    with closing(client_of(path)) as client:
        return [event.text for event in client.reads.feed(limit=1000).events]


def counts(document: str) -> tuple[int, int, int, int]:
    said = json.loads(document)
    return said["read"], said["new"], said["duplicate"], said["refused"]
