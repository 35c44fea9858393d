"""The recall function over an embedded store in memory, captured into and asked as a client would."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from werkzeug.test import Client, TestResponse

from agent.bootstrap import capture_service_on, new_id, store_client
from agent.callers.callers import Callers, Keys
from agent.callers.rate_limit import RateLimit
from agent.capture.service import CaptureRequest
from agent.config import Settings
from agent.content.policy import FULL
from agent.core.waiting import Hints
from agent.observability.tracing import NoSpans
from agent.recall.held import WHOLE_BYTES, HeldSessions
from agent.recall.http.app import RecallApp
from agent.recall.opened_windows import opened_windows
from agent.recall.source import Source
from agent.recall.windows import SessionWindows
from agent.window_settings import ContextSettings
from schemas import recall_openapi_bytes
from tests.recall.http.described import check_described

NOW = datetime(2026, 3, 2, 8, 15, tzinfo=UTC)
REQUEST_REF = "eeeeeeee-0000-4000-8000-000000000006"
SESSION = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"
CONVERSATION = "b7a1e0d4-5c39-4e82-8f16-2d7c9b0a4e13"


@dataclass
class FakeTelemetry:
    """Telemetry of every request in one list; the contents of a context as their lengths."""

    reports: list[tuple[str, Any]] = field(default_factory=list)

    def begin(self, environ: Any, request_ref: str) -> FakeTelemetry:
        self.reports.append(("begin", request_ref))
        return self

    @property
    def spans(self) -> FakeTelemetry:
        return self

    @contextlib.contextmanager
    def span(self, name: str) -> Iterator[None]:
        self.reports.append(("span", name))
        yield

    def called_by(self, key_name: str) -> None:
        self.reports.append(("called_by", key_name))

    def received(self, operation: str, session_id: str, *, memory: Any, history_count: int) -> None:
        self.reports.append(("received", (operation, session_id, memory, history_count)))

    def context_loaded(self, session_id: str, *, total_messages: int, contents: Iterable[str | None]) -> None:
        self.reports.append(("context_loaded", (session_id, total_messages, list(contents))))

    def context_pruned(self, session_id: str | None, **told: Any) -> None:
        self.reports.append(("context_pruned", {"session_id": session_id, **told}))

    def respond(self, operation: str, session_id: str, *, memory: Any, history_count: int) -> None:
        self.reports.append(("respond", (operation, session_id, memory, history_count)))

    def operating(self, operation: str, *, is_open: bool) -> None:
        """Which operation was asked for is seen in what it answers."""

    def answered(self, status: int) -> None:
        """So is its status."""

    def failed(self, error: Any) -> None:
        self.reports.append(("failed", error))

    def end(self) -> None:
        self.reports.append(("end", None))

    def of(self, name: str) -> list[Any]:
        """The reports of one kind, in order."""
        return [said for kind, said in self.reports if kind == name]


class Site:
    """A store, and the recall function on it. What it answers must be what its description says."""

    def __init__(
        self,
        client: Any,
        *,
        keys: Keys | None = None,
        limit: RateLimit | None = None,
        most: int = 50,
        hints: Hints | None = None,
        reads: Any = None,
        whole_bytes: int = WHOLE_BYTES,
        settings: ContextSettings | None = None,
        windows: SessionWindows | None = None,
    ) -> None:
        self.client = client
        read = reads or client.reads
        # A store in memory is never behind: nothing would come of waiting for it.
        held = HeldSessions(read, whole_bytes=whole_bytes, longest_wait_s=0)
        self.source = Source.of(read)._replace(held=held)
        self.telemetry = FakeTelemetry()
        self.health = {"status": "ok", "latency_ms": 1, "kind": "embedded"}
        self.app = RecallApp(
            lambda: self.source,
            telemetry=self.telemetry,
            health=lambda: self.health,
            openapi=recall_openapi_bytes,
            clock=lambda: NOW,
            new_id=lambda: REQUEST_REF,
            release="9.9.9",
            callers=Callers(keys=keys, limit=limit) if keys or limit else None,
            settings=settings or ContextSettings(max_history_messages=most),
            windows=windows or opened_windows({}),
            hints=hints,
        )
        self.web = Client(self.app)

    def capture(self, payload: Any, form: str = "native") -> dict[str, Any]:
        """Capture; the receipt."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        request = CaptureRequest(body=body, format=form, idempotency_key=None, execution_ref=new_id())
        answer = capture_service_on(lambda: self.client, FULL).capture(request, NoSpans())
        return dict(json.loads(answer.body)["receipt"])

    def ask(self, path: str, method: str = "GET", **more: Any) -> TestResponse:
        """The answer to a request, which the description must know."""
        response = self.web.open(path, method=method, **more)
        check_described(method, path, response)
        return response

    def get(self, path: str, **more: Any) -> Any:
        """The document at a path that is there."""
        response = self.ask(path, **more)
        assert response.status_code == 200, response.get_data(as_text=True)
        return json.loads(response.get_data())

    def post(self, path: str, body: Any) -> TestResponse:
        return self.ask(path, "POST", data=body if isinstance(body, bytes) else json.dumps(body).encode())

    def history(self, session: str = SESSION, query: str = "") -> list[str]:
        """The contents of a session's messages."""
        return [message["content"] for message in self.get(f"/api/conversation/{session}{query}")["messages"]]


@contextmanager
def site(**more: Any) -> Iterator[Site]:
    """A site with a store of its own, gone afterwards."""
    settings = Settings.from_env({"RUVECTOR_SERVICE_URL": "embedded::memory:"})
    with closing(store_client(settings)) as client:
        yield Site(client, **more)


def turn_id(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012x}"


def said(number: int, content: str = "", role: str = "user", **fields: Any) -> dict[str, Any]:
    """A turn of a payload."""
    timestamp = f"2026-03-02T08:{number // 60 % 60:02}:{number % 60:02}Z"
    return {"turn_id": turn_id(number), "role": role, "content": content, "timestamp": timestamp, **fields}


def payload(*turns: dict[str, Any], session: str = SESSION, conversation: str = CONVERSATION, **more: Any) -> Any:
    return {"session_id": session, "conversation_id": conversation, "turns": list(turns), **more}


def error_of(response: TestResponse) -> dict[str, Any]:
    """The error of a failure."""
    document = json.loads(response.get_data())
    assert document["success"] is False
    return dict(document["error"])
