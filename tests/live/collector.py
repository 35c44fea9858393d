"""An OTLP/HTTP receiver that keeps the spans and the metrics that it receives."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.leak_watch import WATCH

METRICS_PATH = "/v1/metrics"


class Point(NamedTuple):
    """One data point: ``value`` is a counter's sum or a histogram's count, ``sum`` and ``bounds`` a histogram's."""

    name: str
    attributes: dict[str, Any]
    value: float
    unit: str
    resource: dict[str, Any]
    sum: float = 0.0
    bounds: tuple[float, ...] = ()
    cumulative: bool = True


def told(attributes: Any) -> dict[str, Any]:
    """The attributes of a span, a point or a resource, by name."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value") or "string_value") for each in attributes}


def points_of(body: bytes) -> list[Point]:
    """The points in the body of an export of metrics."""
    return [
        point
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in _points(metric, told(resource.resource.attributes))
    ]


def _points(metric: Any, resource: dict[str, Any]) -> Iterator[Point]:
    data = getattr(metric, metric.WhichOneof("data"))
    # AGGREGATION_TEMPORALITY_CUMULATIVE of opentelemetry/proto/metrics/v1/metrics.proto.
    about = {"unit": metric.unit, "resource": resource, "cumulative": data.aggregation_temporality == 2}
    for each in data.data_points:
        if metric.WhichOneof("data") == "histogram":
            value, bounds = float(each.count), tuple(each.explicit_bounds)
            yield Point(metric.name, told(each.attributes), value, sum=each.sum, bounds=bounds, **about)
        else:
            value = float(getattr(each, each.WhichOneof("value")))
            yield Point(metric.name, told(each.attributes), value, **about)


class Collector:
    """Receives on loopback; ``spans`` are protobuf messages, ``raw`` the bodies as they came.

    ``points`` are all that came, oldest first: of a sum that goes on, the last of a series is what counts.
    """

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.points: list[Point] = []
        self.raw: list[bytes] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.receive(self.path, body)
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                """Say nothing: the tests read ``spans`` and ``points``."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def receive(self, path: str, body: bytes) -> None:
        """Keep what was posted to ``path``."""
        self.raw.append(body)
        WATCH.look("a body sent to a collector", body.decode("latin-1"))
        if path.endswith(METRICS_PATH):
            self.points.extend(points_of(body))
            return
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self.spans.extend(scope.spans)

    def value(self, name: str, **attributes: str) -> float:
        """What the series of ``name`` with these attributes came to at last; 0 where there is none.

        A dot in an attribute's name is written ``_``.
        """
        wanted = {key.replace("_", "."): said for key, said in attributes.items()}
        found = [point.value for point in self.points if point.name == name and point.attributes == wanted]
        return found[-1] if found else 0.0

    @property
    def port(self) -> int:
        return int(self._server.server_port)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector for the length of a block."""
    collector = Collector()
    try:
        yield collector
    finally:
        collector.close()
