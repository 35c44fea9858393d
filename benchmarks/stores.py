"""A store as the rows use it: submissions out of the bytes of a write, and its WSGI application without a server."""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from store.log.capture import read_capture
from store.log.envelope import read_envelope
from store.port import Store, Submission
from store.server import create_app


def read(body: bytes) -> Submission:
    """What the store's server makes of a write before it appends it."""
    envelope = read_envelope(body)
    return Submission(
        envelope=envelope,
        capture=read_capture(envelope),
        caller_key=None,
        event_id=_new_id(),
        received_at=_now(),
    )


def appending(store: Store) -> Callable[[Submission], None]:
    """Append to ``store``. Raises for what is there already: the figure would be about something else."""

    def append(submission: Submission) -> None:
        if store.append(submission).duplicate:
            raise RuntimeError("the store has this write already")

    return append


def posting(store: Store) -> Callable[[bytes], None]:
    """Post to the store's application."""
    ask = _application(store)

    def post(body: bytes) -> None:
        status, _ = ask("POST", "/v1/decision-events", body)
        if status != 201:
            raise RuntimeError(f"the write was answered {status}")

    return post


def getting(store: Store) -> Callable[[str], bytes]:
    """Get a path of the store's application; its answer's body."""
    ask = _application(store)

    def get(target: str) -> bytes:
        status, body = ask("GET", target, b"")
        if status != 200:
            raise RuntimeError(f"the read was answered {status}")
        return body

    return get


def _application(store: Store) -> Callable[[str, str, bytes], tuple[int, bytes]]:
    app = create_app(store, clock=_now, new_id=_new_id)

    def ask(method: str, target: str, body: bytes) -> tuple[int, bytes]:
        parts = urlsplit(target)
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(body)),
            "REMOTE_ADDR": "127.0.0.1",
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
        }
        answered: list[str] = []

        def start_response(status: str, *_: object) -> Any:
            answered.append(status)

        answer = b"".join(app(environ, start_response))
        return int(answered[0].split()[0]), answer

    return ask


def _now() -> datetime:
    return datetime.now(UTC)


def _new_id() -> str:
    return str(uuid.uuid4())
