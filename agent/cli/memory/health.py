"""``health``: whether the agent's settings hold and its store answers, as ``GET /health`` says it (CONTRACT 7).

Added to that document: where the store is, and what the agent runs on. Asking changes nothing: an embedded store that
nobody captured to yet is told as such, and is not made.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from typing import Any

from agent import __version__
from agent.bootstrap import HEALTH_TIMEOUT_S, store_client
from agent.capture.answers import health_document
from agent.cli.embedded_path import check_embedded_path, is_absent
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.result import print_result
from agent.config import Settings, StoreAddress
from agent.errors import StoreConnectionError


def show_health(invocation: Invocation) -> ExitCode:
    """Ask the store once and print what is known. The code is STORE where it does not answer as it should."""
    settings = Settings.from_env(invocation.settings())
    store = {**_store(settings, invocation), "address": _address(settings.store)}
    document = {**health_document(store, release=__version__), "python": platform.python_version()}
    print_result(invocation, document, _facts(document))
    return ExitCode.OK if document["status"] == "ok" else ExitCode.STORE


def _store(settings: Settings, invocation: Invocation) -> dict[str, Any]:
    """What the store answers. ``database`` is there where the embedded one is yet to be made."""
    try:
        check_embedded_path(settings.store)
    except StoreConnectionError as error:
        # The store's own answer follows all the same: it is the result, and this is why.
        invocation.terminal.say(error.message)
    else:
        if is_absent(settings.store):
            return {"status": "ok", "latency_ms": 0, "kind": settings.store.kind, "database": "absent"}
    with closing(store_client(settings)) as client:
        return asdict(client.health(timeout_s=HEALTH_TIMEOUT_S))


def _address(store: StoreAddress) -> str:
    # Holds no secret: an address with a user, a password or a query is refused at start.
    return f"embedded:{store.path}" if store.path is not None else str(store.url)


def _facts(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    store = document["store"]
    made = ", no database yet: a capture makes it" if "database" in store else ""
    return [
        ("status", document["status"]),
        ("agent", f"{document['agent_id']} {document['agent_version']} ({document['classification']})"),
        ("release", document["release"]),
        ("python", document["python"]),
        ("store", f"{store['status']} ({store['kind']}, {store['latency_ms']} ms{made})"),
        ("address", store["address"]),
        ("content", document["content"]),
    ]
