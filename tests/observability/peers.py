"""Collectors that spans and metrics are exported to: one that works, and some that misbehave on a real socket."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.leak_watch import WATCH
from tests.live.collector import METRICS_PATH, Point, points_of
from tests.live.host import free_port


class SpanCollector:
    """An OTLP/HTTP collector: keeps what was posted, and answers with ``status``, ``headers`` and ``body``.

    ``paths``, ``bodies`` and ``connections`` are those of spans, ``metrics`` the bodies of metrics, for which
    ``metrics_status`` may be another. ``asked`` are the headers of all requests, with small letters.
    """

    def __init__(self) -> None:
        self.status = 200
        self.metrics_status: int | None = None
        self.headers: dict[str, str] = {}
        self.body = b""
        self.paths: list[str] = []
        self.bodies: list[bytes] = []
        self.metrics: list[bytes] = []
        self.asked: list[dict[str, str]] = []
        self.connections: set[Any] = set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def requests(self) -> list[ExportTraceServiceRequest]:
        return [ExportTraceServiceRequest.FromString(body) for body in self.bodies]

    def spans(self) -> list[Span]:
        return [
            span
            for request in self.requests()
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def points(self) -> list[Point]:
        """The points of metrics, as they came."""
        return [point for body in self.metrics for point in points_of(body)]

    def resource(self) -> dict[str, str]:
        attributes = self.requests()[0].resource_spans[0].resource.attributes
        return {attribute.key: attribute.value.string_value for attribute in attributes}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body, status = self.rfile.read(int(self.headers["Content-Length"])), collector.status
                WATCH.look("a body sent to a collector", body.decode("latin-1"))
                collector.asked.append({name.lower(): value for name, value in self.headers.items()})
                if self.path.endswith(METRICS_PATH):
                    collector.metrics.append(body)
                    status = collector.metrics_status or status
                else:
                    collector.connections.add(self.client_address)
                    collector.paths.append(self.path)
                    collector.bodies.append(body)
                self.send_response(status, "a reason that nobody repeats")
                for name, value in collector.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(collector.body)))
                self.end_headers()
                with suppress(OSError):  # the exporter may have read enough
                    self.wfile.write(collector.body)

            def log_message(self, *arguments: object) -> None:
                """Say nothing."""

        return Handler


class StuckPeer:
    """Accepts connections and never ends them: silent, or with ``trickle`` one byte of a status line at a time."""

    def __init__(self, *, trickle: bool = False) -> None:
        self.accepted = 0
        self._trickle = trickle
        self._closed = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        self._closed.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        with suppress(OSError):  # the listener was closed
            while True:
                connection, _ = self._listener.accept()
                self.accepted += 1
                thread = threading.Thread(target=self._hold, args=(connection,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _hold(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            for byte in _endless_status_line():
                if self._trickle:
                    connection.send(byte)
                if self._closed.wait(0.05):
                    return


def _endless_status_line() -> Iterator[bytes]:
    yield from (bytes([byte]) for byte in b"HTTP/1.1 200 ")
    while True:
        yield b"O"


def refusing_url() -> str:
    """An address where nobody listens."""
    return f"http://127.0.0.1:{free_port()}"
