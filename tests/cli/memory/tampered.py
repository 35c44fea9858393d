"""Stores that hold or serve what nobody captured: a database changed behind the store's back, and a lying server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.ruvector.peer import Exchange, Peer, response_bytes
from tests.store.planted import SQLITE, Planted, planted
from tests.store.surface import turn_id

Change = Callable[[dict[str, Any]], object]


def _turned(outputs: dict[str, Any]) -> None:
    edge = outputs["edges_created"][-1]
    edge["from_node_id"], edge["to_node_id"] = edge["to_node_id"], edge["from_node_id"]


# What is done to the payload of an event of two turns, and where it shows first.
DAMAGE: dict[str, tuple[Change, str]] = {
    "node dropped": (lambda event: event["outputs"]["nodes_created"].pop(1), "$.outputs.nodes_created[1]"),
    "node type": (
        lambda event: event["outputs"]["nodes_created"][1].update(node_type="response"),
        "$.outputs.nodes_created[1].node_type",
    ),
    "edge dropped": (lambda event: event["outputs"]["edges_created"].pop(0), "$.outputs.edges_created[0]"),
    "edge turned round": (lambda event: _turned(event["outputs"]), "$.outputs.edges_created[3]"),
    "edge id": (
        lambda event: event["outputs"]["edges_created"][0].update(edge_id=turn_id(9)),
        "$.outputs.edges_created[0].edge_id",
    ),
    "stored hash": (lambda event: event.update(stored_inputs_hash="ab" * 32), "$.stored_inputs_hash"),
    "hash": (lambda event: event.update(inputs_hash="ab" * 32), "$.inputs_hash"),
    "turn count": (lambda event: event["outputs"].update(turn_count=7), "$.outputs.turn_count"),
    "tokens": (lambda event: event["outputs"].update(total_tokens=7), "$.outputs.total_tokens"),
    "captured at": (
        lambda event: event["outputs"].update(capture_timestamp="2026-01-01T00:00:00Z"),
        "$.outputs.capture_timestamp",
    ),
    "session id": (lambda event: event["outputs"].update(session_id=turn_id(5)), "$.outputs.session_id"),
    "constraints": (lambda event: event.update(constraints_applied=[]), "$.constraints_applied"),
    "reference": (lambda event: event.update(execution_ref=turn_id(9)), "$.execution_ref"),
    "context": (lambda event: event["inputs"].update(context={"tags": ["b"]}), "$.stored_inputs_hash"),
}


@contextmanager
def changed_database(folder: Path) -> Iterator[tuple[Path, Planted]]:
    """A filled database in ``folder``, and what changes it."""
    with planted(SQLITE, folder) as database:
        yield folder / "store.db", database


@contextmanager
def lying_store(events: list[dict[str, Any]]) -> Iterator[str]:
    """A server that gives back ``events`` as they are, one by one and as a list; its address."""
    texts = [json.dumps(event, separators=(",", ":")).encode() for event in events]
    body = b'{"events":[' + b",".join(texts) + b'],"next_cursor":null}'

    def step(exchange: Exchange) -> bool:
        name = urlsplit(exchange.request.path).path.rpartition("/")[2]
        named = [text for text, event in zip(texts, events, strict=True) if event.get("runId") == name]
        is_list = name in ("decisions", "decision-events")
        found = body if is_list else named[0] if named else b"{}"
        exchange.connection.sendall(response_bytes(200 if is_list or named else 404, found))
        return True

    with Peer(step) as peer:
        yield peer.url
