"""Logs and spans of one request of the capture function, as its HTTP surface uses them. Nothing here raises into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.errors import AgentError
from agent.observability.logs import log_event, log_failure
from agent.observability.trace_context import TraceContext, trace_context
from agent.observability.tracing import Spans, Tracing


class RequestTelemetry:
    """What one request reports about itself; used by the one thread that answers it."""

    def __init__(self, spans: Spans, execution_ref: str, trace: TraceContext | None, project: str | None) -> None:
        self.spans = spans
        self._execution_ref = execution_ref
        self._trace = trace
        self._project = project

    def captured(
        self, *, execution_ref: str, duplicate: bool, turns: int, received_bytes: int, latency_ms: int
    ) -> None:
        """Log a capture that the store acknowledged. ``execution_ref`` is that of the stored event."""
        log_event(
            "capture acknowledged",
            execution_ref=execution_ref,
            trace=self._trace,
            project=self._project,
            fields={
                "invocation_ref": self._execution_ref,
                "duplicate": duplicate,
                "turns": turns,
                "received_bytes": received_bytes,
                "ruvector_latency_ms": latency_ms,
            },
        )

    def failed(self, error: AgentError) -> None:
        """Log a request that was refused or failed."""
        log_failure(error, execution_ref=self._execution_ref, trace=self._trace, project=self._project)

    def end(self) -> None:
        """Export the request's spans, inside the bound of ``span_export``."""
        self.spans.end()


class Telemetry:
    """Starts the telemetry of each request. ``project`` is the Google Cloud project that traces are named by."""

    def __init__(self, tracing: Tracing, *, project: str | None) -> None:
        self._tracing = tracing
        self._project = project

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Telemetry:
        """Telemetry as ``environ`` asks for it. Raises ConfigurationError for an endpoint that is no URL."""
        return cls(Tracing.from_env(environ), project=environ.get("GOOGLE_CLOUD_PROJECT", "").strip() or None)

    def begin(self, environ: Mapping[str, Any], execution_ref: str) -> RequestTelemetry:
        """Start a request from its WSGI environment: its trace context comes from the headers."""
        trace = trace_context(environ.get("HTTP_TRACEPARENT"), environ.get("HTTP_X_CLOUD_TRACE_CONTEXT"))
        return RequestTelemetry(self._tracing.request(trace, execution_ref), execution_ref, trace, self._project)

    def close(self) -> None:
        """Let go of the connection to the collector."""
        self._tracing.close()
