"""Reads an embedded store's file the way its HTTP contract shows it, and serves one over a real socket."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from werkzeug.serving import WSGIRequestHandler, make_server

from agent.bootstrap import new_id, utc_now
from store.engines.sqlite import SqliteStore
from store.server import create_app


class Stored:
    """What a store holds, read through its own WSGI application."""

    def __init__(self, store: SqliteStore) -> None:
        transport = httpx.WSGITransport(app=create_app(store, clock=utc_now, new_id=new_id))
        self._client = httpx.Client(transport=transport, base_url="http://store.invalid")

    def get(self, path: str, **params: Any) -> Any:
        answer = self._client.get(path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def turns(self, session_id: str) -> list[dict[str, Any]]:
        """All turns of a session in ``seq`` order, page after page."""
        turns: list[dict[str, Any]] = []
        while page := self.get(
            f"/v1/sessions/{session_id}/turns", after_seq=turns[-1]["seq"] if turns else 0, limit=1000
        )["turns"]:
            turns += page
        return turns

    def events(self, session_id: str) -> list[dict[str, Any]]:
        """All event envelopes of a session, page after page."""
        page = self.get("/v1/decision-events", session_id=session_id, limit=1000)
        events: list[dict[str, Any]] = page["events"]
        while page.get("next_cursor"):
            page = self.get("/v1/decision-events", session_id=session_id, limit=1000, cursor=page["next_cursor"])
            events += page["events"]
        return events

    def event(self, execution_ref: str) -> dict[str, Any]:
        envelope: dict[str, Any] = self.get(f"/v1/decision-events/{execution_ref}")
        return envelope


@contextmanager
def stored(path: Path) -> Iterator[Stored]:
    """The store in the file at ``path``, for reading beside whoever writes it."""
    store = SqliteStore(path)
    try:
        yield Stored(store)
    finally:
        store.close()


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *args: Any) -> None:
        """Say nothing: a test reads answers."""


@contextmanager
def served(path: Path) -> Iterator[str]:
    """The store in the file at ``path`` as a server on loopback; gives its URL."""
    store = SqliteStore(path)
    server = make_server(
        "127.0.0.1", 0, create_app(store, clock=utc_now, new_id=new_id), threaded=True, request_handler=_Quiet
    )
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
        store.close()
