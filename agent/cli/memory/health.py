"""``health``: whether the agent's settings hold and its store answers, as ``GET /health`` says it (CONTRACT 7)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from typing import Any

import orjson

from agent import __version__
from agent.bootstrap import HEALTH_TIMEOUT_S, store_client
from agent.capture.answers import health_document
from agent.cli.embedded_path import check_embedded_path
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.output_format import Format
from agent.config import Settings
from agent.errors import StoreConnectionError


def show_health(invocation: Invocation) -> ExitCode:
    """Ask the store once and print what is known. The code is STORE where it does not answer as it should."""
    settings = Settings.from_env(invocation.settings())
    try:
        check_embedded_path(settings.store)
    except StoreConnectionError as error:
        # The store's own answer follows all the same: it is the result, and this is why.
        invocation.terminal.say(error.message)
    with closing(store_client(settings)) as client:
        document = health_document(asdict(client.health(timeout_s=HEALTH_TIMEOUT_S)), release=__version__)
    if invocation.format is Format.TABLE:
        _show(document, invocation)
    else:
        invocation.print_json(orjson.dumps(document))
    return ExitCode.OK if document["status"] == "ok" else ExitCode.STORE


def _show(document: Mapping[str, Any], invocation: Invocation) -> None:
    # Late: a script that asks for JSON does not wait for Rich.
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    store = document["store"]
    table.add_row("status", document["status"])
    table.add_row("agent", f"{document['agent_id']} {document['agent_version']} ({document['classification']})")
    table.add_row("release", document["release"])
    table.add_row("store", f"{store['status']} ({store['kind']}, {store['latency_ms']} ms)")
    table.add_row("content", document["content"])
    invocation.terminal.show(table)
