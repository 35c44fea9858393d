"""Fakes of the ports that the capture side owns."""

from __future__ import annotations

import contextlib
import io
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from agent.callers.callers import Callers, Keys
from agent.callers.rate_limit import RateLimit
from agent.capture.http import CaptureApp
from agent.capture.service import CaptureService
from agent.core.receipt import Receipt, TurnCounts
from agent.edge.body import MAX_BODY_BYTES
from agent.edge.room import Room
from tests.live.payloads import BASE_TEXT
from tests.published import check_event

NOW = datetime(2026, 3, 2, 8, 15, tzinfo=UTC)
NOW_TEXT = "2026-03-02T08:15:00.000000Z"
EXECUTION_REF = "eeeeeeee-0000-4000-8000-000000000001"


ACCEPTED = Receipt(
    event_id="e-1",
    duplicate=False,
    position=7,
    turns=TurnCounts(2, 0, 0, 0),
    execution_ref=None,
    timestamp=None,
    latency_ms=3,
)


@dataclass
class FakeStore:
    """A store in memory: keeps what was appended, answers ``receipt`` or raises ``error``."""

    receipt: Receipt = ACCEPTED
    error: BaseException | None = None
    appended: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    traceparents: list[str | None] = field(default_factory=list)

    def append(self, envelope: bytes, *, idempotency_key: str, traceparent: str | None = None) -> Receipt:
        self.appended.append(json.loads(envelope))
        check_event(self.appended[-1]["payload"])
        self.keys.append(idempotency_key)
        self.traceparents.append(traceparent)
        if self.error is not None:
            raise self.error
        return self.receipt


@dataclass
class FakeSpans:
    """Remembers the steps in the order in which they were entered, and the attributes."""

    steps: list[str] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    traceparent: str | None = None

    @contextlib.contextmanager
    def span(self, name: str) -> Iterator[None]:
        self.steps.append(name)
        yield

    def set(self, **attributes: str | int | bool) -> None:
        self.attributes.update(attributes)

    def conversation(self, conversation_id: str, *, input_tokens: int | None, output_tokens: int | None) -> None:
        self.attributes["conversation"] = (conversation_id, input_tokens, output_tokens)


@dataclass
class FakeTelemetry:
    """Telemetry of every request in one list."""

    spans: FakeSpans = field(default_factory=FakeSpans)
    reports: list[tuple[str, Any]] = field(default_factory=list)

    def begin(self, environ: Any, execution_ref: str) -> FakeTelemetry:
        self.reports.append(("begin", execution_ref))
        return self

    def called_by(self, key_name: str) -> None:
        self.reports.append(("called_by", key_name))

    def delivered(
        self,
        *,
        age_s: float | None,
        attempt: int | None,
        message_id: str | None = None,
        published: str | None = None,
    ) -> None:
        self.reports.append(("delivered", (age_s, attempt, message_id, published)))

    def captured(self, **counts: Any) -> None:
        self.reports.append(("captured", counts))

    def failed(self, error: Any, *, status: int | None = None) -> None:
        self.reports.append(("failed", error))

    def end(self) -> None:
        self.reports.append(("end", None))


def service(store: FakeStore, **more: Any) -> CaptureService:
    ticks = iter(range(1000))
    return CaptureService(
        lambda: store,
        clock=lambda: NOW,
        elapsed=lambda: next(ticks) / 100,
        peak_memory=lambda: 1234,
        release="9.9.9",
        **more,
    )


def app(
    store: FakeStore,
    telemetry: FakeTelemetry,
    *,
    health: dict[str, Any] | None = None,
    keys: Keys | None = None,
    limit: RateLimit | None = None,
    within: Room | None = None,
) -> CaptureApp:
    return CaptureApp(
        service(store),
        telemetry=telemetry,
        health=lambda: health or {"status": "ok", "latency_ms": 1, "kind": "http"},
        openapi=lambda: b"{}",
        clock=lambda: NOW,
        new_id=lambda: EXECUTION_REF,
        release="9.9.9",
        room=within or room(),
        callers=Callers(keys=keys, limit=limit) if keys or limit else None,
    )


def room() -> Room:
    """The room of an instance."""
    return Room(MAX_BODY_BYTES, clock=time.monotonic)


def environ(
    method: str = "POST", path: str = "/", body: bytes = BASE_TEXT.encode(), query: str = "", **headers: str | None
) -> dict[str, Any]:
    """A request as the host hands it over; a header that is None is not sent."""
    return {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        **{f"HTTP_{name.upper()}": value for name, value in headers.items() if value is not None},
    }
