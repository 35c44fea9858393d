"""The store as its clients meet it: its HTTP surface, in process or over a socket, and bodies to post."""

import hashlib
import itertools
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Self
from urllib.parse import quote

import httpx

from agent.core.canonical import canonical, sha256_hex
from store.port import Store
from store.server import create_app

SESSION = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"
CONVERSATION = "b7a1e0d4-5c39-4e82-8f16-2d7c9b0a4e13"
OTHER_CONVERSATION = "c2c2c2c2-0000-4000-8000-000000000002"
BASE = "http://store.invalid"
CAPTURED_AT = "2026-03-02T08:15:00.000000Z"


def clock() -> datetime:
    return datetime(2026, 3, 2, 8, 15, tzinfo=UTC)


def as_servers_call(app: Any) -> Any:
    """``app``, with the bytes of a path as latin-1 text (PEP 3333): httpx hands the text itself over."""

    def call(environ: dict[str, Any], start_response: Any) -> Any:
        return app({**environ, "PATH_INFO": environ["PATH_INFO"].encode().decode("latin-1")}, start_response)

    return call


class OfTenant:
    """A store as one tenant meets it: every call is made for ``tenant``, whoever asks."""

    def __init__(self, store: Store, tenant: str) -> None:
        self._store = store
        self._tenant = tenant
        self.kind = store.kind

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name in ("ping", "close") or name.startswith("_"):
            return method
        return lambda *arguments, **named: method(*arguments, **{**named, "tenant": self._tenant})


class Surface:
    """A client of one tenant of one store, in process or over HTTP.

    In process the tenant's calls go to ``store``, and event ids are counted up, so that tests can tell them apart.
    ``kind`` is that of the engine.
    """

    def __init__(self, store: Store, *, tenant: str | None = None) -> None:
        ids = itertools.count(1)
        self.store: Any = store
        self.kind = store.kind
        self._shares_store = tenant is not None
        app = create_app(
            store if tenant is None else OfTenant(store, tenant),  # type: ignore[arg-type]  # a store by what it is asked
            clock=clock,
            new_id=lambda: f"00000000-0000-4000-9000-{next(ids):012x}",
        )
        self.client = httpx.Client(transport=httpx.WSGITransport(app=as_servers_call(app)), base_url=BASE)

    @classmethod
    def over_http(cls, url: str, key: str, *, kind: str) -> Self:
        surface = cls.__new__(cls)
        surface.kind = kind
        surface.store, surface._shares_store = None, True
        surface.client = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=60)
        return surface

    def post(self, body: Any, *, key: str | None = None, path: str = "/v1/decision-events") -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {} if key is None else {"Idempotency-Key": key}
        return self.client.post(path, content=content, headers=headers)

    def capture(self, payload: dict[str, Any], **changes: Any) -> dict[str, Any]:
        """Append a capture's event; the receipt."""
        body = envelope(payload, **changes)
        answer = self.post(body, key=body["payload"]["inputs_hash"])
        assert answer.status_code in (200, 201), answer.text
        return dict(answer.json())

    def get(self, path: str, **query: Any) -> Any:
        answer = self.client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def erase(self, kind: str, name: str) -> dict[str, Any]:
        """Erase a session, a turn or a user; the receipt."""
        answer = self.client.delete(f"/v1/{kind}s/{quote(name, safe='')}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def turns(self, session: str = SESSION, **query: Any) -> list[dict[str, Any]]:
        return list(self.get(f"/v1/sessions/{session}/turns", **query)["turns"])

    def session(self, session: str = SESSION) -> dict[str, Any]:
        return dict(self.get(f"/v1/sessions/{session}"))

    def event(self, execution_ref: str) -> dict[str, Any]:
        return dict(self.get(f"/v1/decision-events/{execution_ref}"))

    def events(self, **query: Any) -> list[dict[str, Any]]:
        """All events of a list, page by page."""
        return list(self._pages("/v1/decision-events", "events", query))

    def sessions(self, **query: Any) -> list[dict[str, Any]]:
        """All sessions of a list, page by page."""
        return list(self._pages("/v1/sessions", "sessions", query))

    def close(self) -> None:
        self.client.close()
        if not self._shares_store:
            self.store.close()

    def _pages(self, path: str, name: str, query: dict[str, Any]) -> Iterator[dict[str, Any]]:
        while True:
            page = self.get(path, **query)
            assert len(page[name]) <= query.get("limit", 100)
            yield from page[name]
            if page["next_cursor"] is None:
                return
            query = {**query, "cursor": page["next_cursor"]}


def envelope(payload: dict[str, Any], *, execution_ref: str | None = None, **event: Any) -> dict[str, Any]:
    """The write of a capture, as the function sends it; members of the event can be changed, or left out with None."""
    inputs_hash = sha256_hex(canonical(payload))
    run_id = execution_ref or ref_of(json.dumps(payload))
    fields = {
        "agent_id": "conversation-memory-agent",
        "agent_version": "1.0.0",
        "decision_type": "conversation_capture",
        "inputs_hash": inputs_hash,
        "inputs": payload,
        "outputs": {"session_id": payload.get("session_id"), "nodes_created": [], "edges_created": []},
        "confidence": 1.0,
        "constraints_applied": [],
        "execution_ref": run_id,
        "timestamp": CAPTURED_AT,
        **event,
    }
    return {
        "type": "conversation_capture",
        "runId": run_id,
        "source": "conversation-memory-agent",
        "timestamp": fields["timestamp"],
        "payload": {name: value for name, value in fields.items() if value is not None},
    }


def ref_of(text: str) -> str:
    """A UUID that belongs to ``text``."""
    digits = hashlib.sha256(text.encode()).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}"


def turn_id(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012x}"


def turn(number: int, content: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "turn_id": turn_id(number),
        "role": "user" if number % 2 else "assistant",
        "content": f"t{number}" if content is None else content,
        "timestamp": "2026-03-02T08:00:00Z",
        **more,
    }


def payload(
    *turns: dict[str, Any], session: str = SESSION, conversation: str = CONVERSATION, **more: Any
) -> dict[str, Any]:
    return {"session_id": session, "conversation_id": conversation, "turns": list(turns), **more}
