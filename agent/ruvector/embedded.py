"""A store in this process behind the same client: WSGI (PEP 3333) in place of a socket, closed when the client is.

Does what httpx.WSGITransport does for this one client, at a fifth of its cost: a capture is mostly such exchanges.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import httpx

from agent.ruvector.exchange import BodyRefused

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

_NOT_PREFIXED = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}


class EmbeddedTransport(httpx.BaseTransport):
    """Hands requests to a WSGI application; ``close_store`` lets go of what the application holds open.

    The time that is left until ``request.extensions["deadline"]``, an instant of ``clock``, stands in the environ as
    ``ruvector.timeout_s``: the store waits no longer for other writers. ``"max_body"`` bounds the answer.
    What the application raises is raised: the store answers its own faults, so that would be a fault of ours.
    """

    def __init__(
        self,
        application: WSGIApplication,
        *,
        close_store: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._application = application
        self._close_store = close_store
        self._clock = clock

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Run the application on ``request`` and return its whole answer. Raises BodyRefused for one too long."""
        started: dict[str, Any] = {}

        def start_response(
            status: str, headers: list[tuple[str, str]], _exc_info: object = None
        ) -> Callable[..., None]:
            started.update(status=int(status[:3]), headers=headers)
            return _no_write

        environ = _environ(request)
        deadline = request.extensions.get("deadline")
        if deadline is not None:
            environ["ruvector.timeout_s"] = max(0.0, deadline - self._clock())
        body = _whole(self._application(environ, start_response))
        status, headers = started["status"], started["headers"]
        if len(body) > request.extensions.get("max_body", sys.maxsize):
            raise BodyRefused(status, httpx.Headers(headers).raw)
        return httpx.Response(status, headers=headers, stream=httpx.ByteStream(body))

    def close(self) -> None:
        """Close the store."""
        self._close_store()


def _environ(request: httpx.Request) -> WSGIEnvironment:
    url = request.url
    path, _, query = url.raw_path.partition(b"?")
    environ: WSGIEnvironment = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        # PEP 3333: bytes of the decoded path, each as one character.
        "PATH_INFO": url.path.encode().decode("latin-1") if b"%" in path else path.decode("ascii"),
        "QUERY_STRING": query.decode("ascii"),
        "SERVER_NAME": url.host,
        "SERVER_PORT": str(url.port or 80),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": url.scheme,
        "wsgi.input": io.BytesIO(b"".join(request.stream)),  # type: ignore[arg-type]  # our requests hold bytes
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in request.headers.raw:
        environ[_variable(name)] = value.decode("latin-1")
    return environ


@lru_cache(maxsize=64)
def _variable(name: bytes) -> str:
    """The name in the environ of a header."""
    key = name.decode("ascii").lower()
    return _NOT_PREFIXED.get(key) or "HTTP_" + key.upper().replace("-", "_")


def _whole(answer: Iterable[bytes]) -> bytes:
    try:
        return b"".join(answer)
    finally:
        close = getattr(answer, "close", None)
        if close is not None:
            close()


def _no_write(data: bytes) -> None:
    """The write callable of PEP 3333, which the store never calls."""
    raise TypeError(f"{len(data)} bytes were written past the answer")
