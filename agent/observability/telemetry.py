"""Logs and spans of one request of the capture function, as its HTTP surface uses them. Nothing here raises into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.observability.reporting import Reporting, RequestReport


class RequestTelemetry(RequestReport):
    """What one capture reports about itself."""

    def captured(
        self, *, execution_ref: str, duplicate: bool, turns: int, received_bytes: int, latency_ms: int
    ) -> None:
        """Log a capture that the store acknowledged. ``execution_ref`` is that of the stored event."""
        self._log(
            "capture acknowledged",
            {
                "invocation_ref": self._request.ref,
                "duplicate": duplicate,
                "turns": turns,
                "received_bytes": received_bytes,
                "ruvector_latency_ms": latency_ms,
            },
            execution_ref=execution_ref,
        )


class Telemetry(Reporting):
    """Starts the telemetry of each request."""

    def begin(self, environ: Mapping[str, Any], execution_ref: str) -> RequestTelemetry:
        """Start the request in a WSGI environment."""
        return RequestTelemetry(self._begun(environ, execution_ref))
