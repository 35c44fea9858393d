"""``health``: whether the agent's settings hold and its store answers, as ``GET /health`` says it (CONTRACT 7).

Added to that document: where the store is, what the agent runs on, and for a server whether it takes the key, which
its health answer does not ask for. Asking changes nothing: an embedded store that nobody captured to yet is told as
such, and is not made.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from typing import Any, Final

from agent import __version__
from agent.bootstrap import HEALTH_TIMEOUT_S, store_client
from agent.cli.embedded_path import check_embedded_path, is_absent
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.result import print_result
from agent.config import Settings, StoreAddress
from agent.edge.answers import health_document
from agent.errors import StoreConnectionError
from agent.ruvector.store_key import KEY_VARIABLE, KeyState

_REFUSED: Final[KeyState] = "refused"
_KEYS: Final[Mapping[KeyState, str]] = {
    "accepted": "accepted",
    _REFUSED: "refused",
    "cannot read": "cannot read: right for one that only appends, as a function's",
    "unknown": "unknown: the store does not say",
}


def show_health(invocation: Invocation) -> ExitCode:
    """Ask the store and print what is known. The code is STORE where it does not answer as it should."""
    settings = Settings.from_env(invocation.settings())
    store = {**_store(settings, invocation), "address": _address(settings.store)}
    document = {
        **health_document(store, release=__version__, content=settings.content.mode),
        "python": platform.python_version(),
    }
    if store.get("key") == _REFUSED:
        # It is up, and nothing can be captured.
        document["status"] = "degraded"
    print_result(invocation, document, _facts(document, has_key=settings.store.api_key is not None))
    if store.get("key") == _REFUSED:
        invocation.terminal.say(_refusal(settings.store))
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
        health = client.health(timeout_s=HEALTH_TIMEOUT_S)
        if health.status != "ok":
            return asdict(health)
        key = client.key_state(timeout_s=HEALTH_TIMEOUT_S)
    if settings.store.path is not None:
        # It has no keys: what cannot be read is damaged.
        return {**asdict(health), "status": "ok" if key == "accepted" else "error"}
    if key == "not a store":
        invocation.terminal.say("what answers at this address is no store")
        return {**asdict(health), "status": "error"}
    return {**asdict(health), "key": key}


def _address(store: StoreAddress) -> str:
    # Holds no secret: an address with a user, a password or a query is refused at start.
    return f"embedded:{store.path}" if store.path is not None else str(store.url)


def _refusal(store: StoreAddress) -> str:
    if store.api_key is None:
        return f"the store wants a key, and there is none: set {KEY_VARIABLE}"
    return f"the store refuses the key: check {KEY_VARIABLE}"


def _key(state: KeyState, *, has_key: bool) -> str:
    return "none, and none is asked for" if state == "accepted" and not has_key else _KEYS[state]


def _facts(document: Mapping[str, Any], *, has_key: bool) -> list[tuple[str, str]]:
    store = document["store"]
    made = ", no database yet: a capture makes it" if "database" in store else ""
    key = [("key", _key(store["key"], has_key=has_key))] if "key" in store else []
    return [
        ("status", document["status"]),
        ("agent", f"{document['agent_id']} {document['agent_version']} ({document['classification']})"),
        ("release", document["release"]),
        ("python", document["python"]),
        ("store", f"{store['status']} ({store['kind']}, {store['latency_ms']} ms{made})"),
        ("address", store["address"]),
        *key,
        ("content", document["content"]),
    ]
