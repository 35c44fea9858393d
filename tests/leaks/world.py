"""All four functions on one store, behind keys, with logs at DEBUG and a collector of ours that is sent everything."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from werkzeug.test import Client, TestResponse

from agent.ambient import new_id, utc_now
from agent.bootstrap import capture_app, capture_service_on, recall_app, room_for_bodies, store_app
from agent.capture.events.app import EventApp
from agent.config import RecallSettings
from agent.content.policy import FULL
from agent.observability import Telemetry
from agent.observability.logs import configure_logging
from agent.recall.source import Source
from agent.ruvector.client import RuvectorClient
from agent.ruvector.embedded import EmbeddedTransport
from schemas import events_openapi_bytes
from tests import planted_capture
from tests.leak_watch import SECRET
from tests.leaks.canaries import ALL, first_found
from tests.observability.conftest import RecordedLog
from tests.observability.peers import SpanCollector

STORE_KEY, CAPTURE_KEY, RECALL_KEY, METRICS_KEY = (
    f"{SECRET}-key-of-the-{side}" for side in ("store", "capture", "recall", "metrics")
)
SESSION = planted_capture.SESSION
# What a caller may send beside the request, each with canaries.
BESIDE: Mapping[str, str] = {
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate": f"vendor={SECRET}",
    "baggage": f"user={quote(ALL)}",
    "Cookie": f"session={SECRET}",
    "User-Agent": f"agent of {SECRET}",
    "Referer": f"https://shop.example/{SECRET}",
    f"X-{SECRET}": SECRET,
}


def planted() -> dict[str, Any]:
    """A capture with all canaries in every place that a caller fills, except its ids, which have a longest length."""
    text = json.dumps({**planted_capture.payload(), "session_id": "", "conversation_id": ""})
    full = json.loads(text.replace(SECRET, json.dumps(ALL)[1:-1]))
    return {**full, "session_id": SESSION, "conversation_id": planted_capture.CONVERSATION}


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


class World:
    """The functions as clients, and what they told: ``log``, and the bodies that the ``collector`` was sent."""

    def __init__(self, folder: Path, log: RecordedLog, collector: SpanCollector, opened: ExitStack) -> None:
        self.log, self.collector, self.database = log, collector, folder / "memory.db"
        told = {"LLM_OBSERVATORY_URL": collector.url, "LOG_LEVEL": "DEBUG"}
        keys = {"RUVECTOR_KEYS": f"default:{STORE_KEY}:admin", "METRICS_KEY": METRICS_KEY}
        served = store_app({"RUVECTOR_STORE": f"sqlite:///{self.database}", **keys})
        opened.callback(served.close)
        self.store_application = served.application
        self.client = store_client(EmbeddedTransport(served.application, close_store=lambda: None))
        opened.callback(self.client.close)
        self._environ = told | {"CAPTURE_API_KEYS": CAPTURE_KEY, "RECALL_API_KEYS": RECALL_KEY}
        self._opened = opened
        self.store = Client(served.application)
        self.capture = self.capture_on(self.client)
        self.events = self.events_on(self.client)
        self.recall = self.recall_on(self.client)
        configure_logging(log, level="DEBUG")

    def capture_on(self, client: RuvectorClient) -> Client:
        app = capture_app(self._environ, lambda: client)
        self._opened.callback(app._telemetry.close)
        configure_logging(self.log, level="DEBUG")
        return Client(lambda environ, start: app.handle(environ)(environ, start))

    def events_on(self, client: RuvectorClient) -> Client:
        telemetry = Telemetry.from_env(self._environ, trigger="event")
        self._opened.callback(telemetry.close)
        app = EventApp(
            capture_service_on(lambda: client, FULL),
            telemetry=telemetry,
            health=lambda: {"status": "ok", "latency_ms": 1, "kind": "http"},
            openapi=events_openapi_bytes,
            clock=utc_now,
            new_id=new_id,
            release="1.2.3",
            room=room_for_bodies(),
        )
        return Client(app)

    def recall_on(self, client: RuvectorClient) -> Client:
        app = recall_app(self._environ, RecallSettings.from_env(self._environ))
        app._source = lambda: Source.of(client.reads)
        self._opened.callback(app._telemetry.close)
        configure_logging(self.log, level="DEBUG")
        return Client(app)

    def post(self, body: Any, query: str = "", web: Client | None = None, **headers: str) -> TestResponse:
        """A capture."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {**bearer(CAPTURE_KEY), **BESIDE, **headers}
        return (web or self.capture).post(f"/?{query}", data=data, headers=sent)

    def ask(self, path: str, method: str = "GET", web: Client | None = None, **more: Any) -> TestResponse:
        """A recall."""
        return (web or self.recall).open(path, method=method, headers={**bearer(RECALL_KEY), **BESIDE}, **more)

    def told(self) -> list[str]:
        """All that was logged, and all that was sent to the collector."""
        bodies = (*self.collector.bodies, *self.collector.metrics)
        return [self.log.text, *(body.decode("latin-1") for body in bodies)]


def here(path: str = "") -> str:
    """A path of the recall that is about the planted session."""
    return f"/api/conversation/{quote(SESSION, safe='')}{path}"


def store_client(transport: Any, base_url: str = "http://store.invalid") -> RuvectorClient:
    return RuvectorClient(
        transport, base_url=base_url, api_key=STORE_KEY, kind="http", deadline_s=2, at_most_once=False
    )


@contextmanager
def leak_proof_world(folder: Path, log: RecordedLog, collector: SpanCollector) -> Iterator[World]:
    """A world that holds what was captured, and at whose end none of its canaries has been told."""
    with ExitStack() as opened:
        world = World(folder, log, collector, opened)
        assert world.post(planted()).status_code == 200
        yield world
    # Closed by now: the last metrics have been sent.
    assert collector.bodies
    assert collector.points()
    assert log.entries()
    for text in world.told():
        found = first_found(text)
        assert found is None, text[max(0, found.start() - 200) : found.end() + 200]
