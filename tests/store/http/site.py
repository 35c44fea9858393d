"""The surface over a fake store, and a client of it that hands paths over as real servers do (PEP 3333)."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import httpx

from agent.ruvector.embedded import EmbeddedTransport
from store.server import create_app
from tests.store.http.fake_guard import FakeGuard, FakeMetrics
from tests.store.http.fake_store import AT, FakeStore

SESSION = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"
CONVERSATION = "b7a1e0d4-5c39-4e82-8f16-2d7c9b0a4e13"
TURN = "00000000-0000-4000-8000-000000000001"
ABSENT = "7a7a7a7a-0000-4000-8000-00000000000a"
NOW = datetime(2026, 5, 4, 7, 30, 6, tzinfo=UTC)
# Ids and names that a path has to carry: whatever JSON can hold is one.
ANY_TEXT = ["é", "日本", "a\u0000b", "\U0001f680", "%", "a/b", "/", "//", "..", "a b", "a?b#c", "%2F", "+", "x/export"]


@dataclass
class Site:
    """A client and what stands behind it. Event ids are counted up, and so are the seconds of the stop-watch."""

    store: FakeStore = field(default_factory=FakeStore)
    guard: FakeGuard | None = None
    metrics: FakeMetrics | None = None
    openapi: Any = None
    app: Any = field(init=False)
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        ids, seconds = itertools.count(1), itertools.count(100)
        self.app = create_app(
            self.store,
            clock=lambda: NOW,
            new_id=lambda: f"00000000-0000-4000-9000-{next(ids):012x}",
            guard=self.guard,
            metrics=self.metrics,
            openapi=self.openapi,
            monotonic=lambda: float(next(seconds)),
        )
        transport = EmbeddedTransport(self.app, close_store=self.store.close)
        self.client = httpx.Client(transport=transport, base_url="http://store.invalid")

    def get(self, path: str, **query: Any) -> httpx.Response:
        return self.client.get(path, params=query or None)

    def json(self, path: str, **query: Any) -> Any:
        answer = self.get(path, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, body: Any, path: str = "/v1/decision-events", **headers: str) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.post(path, content=content, headers=headers)

    def append(self, *bodies: dict[str, Any]) -> None:
        for body in bodies:
            assert self.post(body).status_code == 201

    def raw(self, method: str, path: bytes, query: bytes = b"", **environ: Any) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of a request that no client would send; ``path`` as a server has decoded it."""
        environment = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path.decode("latin-1"),
            "QUERY_STRING": query.decode("latin-1"),
            "wsgi.input": io.BytesIO(),
            **environ,
        }
        status, headers, pieces = self.start(environment)
        return status, headers, b"".join(pieces)

    def start(self, environ: dict[str, Any]) -> tuple[int, dict[str, str], Iterable[bytes]]:
        """Status, headers and the body as the host would iterate over it."""
        started: list[tuple[str, list[tuple[str, str]]]] = []
        pieces = self.app(environ, lambda status, headers, exc_info=None: started.append((status, headers)))
        ((status, headers),) = started
        assert len(dict(headers)) == len(headers)
        return int(status[:3]), dict(headers), pieces

    def last_call(self, method: str) -> Any:
        """What the store's ``method`` was called with last."""
        return next(call for call in reversed(self.store.calls) if call.method == method)


def event(ref: str = "r-1", **changes: Any) -> dict[str, Any]:
    """An envelope that makes no turns."""
    return {"type": "plan_approved", "runId": ref, "timestamp": AT, "payload": {"plan": "p"}, **changes}


def capture(ref: str = "00000000-0000-4000-8000-0000000000c1", **context: Any) -> dict[str, Any]:
    """An envelope with one turn."""
    turn = {"turn_id": TURN, "role": "user", "content": "c", "timestamp": AT}
    inputs = {"session_id": SESSION, "conversation_id": CONVERSATION, "turns": [turn], "context": context}
    payload = {
        "agent_id": "conversation-memory-agent",
        "decision_type": "conversation_capture",
        "inputs": inputs,
        "execution_ref": ref,
        "timestamp": AT,
    }
    return {"type": "conversation_capture", "runId": ref, "timestamp": AT, "payload": payload}


def session_row(number: int = 1) -> dict[str, Any]:
    return {
        "session_id": f"6f1d2c3a-8b4e-4f70-9a51-{number:012x}",
        "first_user_content": "c",
        "created_at": AT,
        "last_activity": AT,
        "first_turn_at": AT,
        "last_turn_at": None,
        "turn_count": 1,
        "agents": ["a"],
        "users": [],
        "tags": ["t"],
        "version": number,
    }


def turn_row(seq: int = 1) -> dict[str, Any]:
    return {
        "turn_id": f"00000000-0000-4000-8000-{seq:012x}",
        "seq": seq,
        "parent_turn_id": None,
        "conversation_id": CONVERSATION,
        "captured_at": AT,
        "version": 1,
        "execution_ref": "r-1",
        "revisions": 1,
        "erased": False,
        "role": "user",
        "content": "c",
        "timestamp": AT,
    }


def audit_row(number: int) -> dict[str, Any]:
    return {"id": number, "at": AT, "key_name": "k", "action": "erase_turn", "subject": TURN}


def filled() -> FakeStore:
    """A store with something behind every path."""
    store = FakeStore(
        session_rows=[session_row(number) for number in range(1, 6)],
        turn_rows={bytes.fromhex(SESSION.replace("-", "")): [turn_row(seq) for seq in range(1, 4)]},
        users={"u-1", *ANY_TEXT},
        audit_rows=[audit_row(number) for number in range(1, 6)],
    )
    store.session_rows.append({**session_row(6), "session_id": SESSION})
    Site(store).append(event("r-1"), capture())
    return store


def segment(text: str) -> str:
    """``text`` as one segment of a path; dots are quoted too, or a client would walk up."""
    return quote(text, safe="").replace(".", "%2E")
