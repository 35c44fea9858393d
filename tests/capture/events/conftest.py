"""The surface that a queue pushes to, on a store and a telemetry in memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Response

from agent.callers.callers import Callers
from agent.capture.events.app import EventApp
from agent.edge.room import Room
from tests.capture.events.envelopes import Posted
from tests.capture.fakes import EXECUTION_REF, NOW, FakeStore, FakeTelemetry, room, service
from tests.published import check_answer

Handle = Callable[[Posted], Response]


def events_on(
    store: FakeStore,
    telemetry: FakeTelemetry,
    health: dict[str, Any] | None = None,
    *,
    within: Room | None = None,
    callers: Callers | None = None,
) -> EventApp:
    return EventApp(
        service(store),
        telemetry=telemetry,
        health=lambda: health or {"status": "ok", "latency_ms": 1, "kind": "http"},
        openapi=lambda: b"{}",
        clock=lambda: NOW,
        new_id=lambda: EXECUTION_REF,
        release="9.9.9",
        room=within or room(),
        callers=callers,
    )


def body_of(answer: Response) -> Any:
    """The answer's JSON, held to the schemas."""
    body = json.loads(answer.get_data())
    if "success" in body:
        check_answer(body)
    return body


def problems_of(answer: Response) -> list[tuple[str, str]]:
    """What a refusal found: path and rule."""
    return [(problem["path"], problem["rule"]) for problem in body_of(answer)["error"]["details"]["errors"]]


@pytest.fixture
def handle(store: FakeStore, telemetry: FakeTelemetry) -> Handle:
    app = events_on(store, telemetry)
    return lambda posted: app.handle(posted.environ())
