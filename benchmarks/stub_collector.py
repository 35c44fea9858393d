"""An OTLP/HTTP collector that takes everything at once: what is left of telemetry's cost is then the function's own.

``/v1/traces`` and ``/v1/metrics`` are answered 200 with an empty message (OTLP specification, "OTLP/HTTP Response");
what comes is counted and not looked at. ``GET /counts`` gives the counts, so that a row can tell that anything came.
``python -m benchmarks.stub_collector`` prints its port and serves until stdin ends.
"""

from __future__ import annotations

import json
from collections import Counter

from benchmarks.canned import response, serve

_PATHS = (b"/v1/traces", b"/v1/metrics")


class Collector:
    """Counts exports and their bytes by path."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def __call__(self, request: bytes, body_size: int) -> bytes:
        """The answer to one request."""
        method, path, *_ = request.split(b" ", 2)
        if method == b"POST" and path in _PATHS:
            name = path.rpartition(b"/")[2].decode()
            self._counts[name] += 1
            self._counts[f"{name}_bytes"] += body_size
            return response(b"200 OK", b"", b"application/x-protobuf")
        if path == b"/counts":
            return response(b"200 OK", json.dumps(self._counts).encode())
        return response(b"404 Not Found", b"{}")


if __name__ == "__main__":
    serve(Collector())
