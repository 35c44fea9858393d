"""What is asked of the read side itself: how much its store holds, whether both are up, and how it is spoken to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

import orjson

from agent.edge.answers import health_document
from agent.recall.http.answer import Answer, document
from agent.recall.http.request import Operation, Request

CLASSIFICATION: Final = "MEMORY_READ"


def store_stats(request: Request) -> Answer:
    """What the store counts for this tenant, and how many turns a session has on average."""
    request.query()
    stats = request.source.reads.stats()
    average = stats.turns / stats.sessions if stats.sessions else 0.0
    counts = {"sessions": stats.sessions, "turns": stats.turns, "events": stats.events, "bytes": stats.bytes}
    return document({**counts, "avg_messages_per_session": round(average, 2)})


def health_with(store: Callable[[], Mapping[str, Any]], *, release: str) -> Operation:
    """The operation that asks the ``store`` how it is."""

    def health(_: Request) -> Answer:
        shown = health_document(store(), release=release, classification=CLASSIFICATION)
        status = HTTPStatus.OK if shown["status"] == "ok" else HTTPStatus.SERVICE_UNAVAILABLE
        return Answer(orjson.dumps(shown), status)

    return health


def openapi_with(text: Callable[[], bytes]) -> Operation:
    """The operation that gives the description."""

    def openapi(_: Request) -> Answer:
        return Answer(text())

    return openapi
