"""What the telemetry of every function has in common: where it goes, and how a request that failed is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from agent.errors import AgentError
from agent.observability.logs import Field, log_event, log_failure
from agent.observability.trace_context import TraceContext, trace_context
from agent.observability.tracing import Spans, Tracing


class Request(NamedTuple):
    """One request as its telemetry knows it: its spans, its own reference, the trace that it belongs to."""

    spans: Spans
    ref: str
    trace: TraceContext | None
    project: str | None


class RequestReport:
    """What one request reports about itself; used by the one thread that answers it."""

    def __init__(self, request: Request) -> None:
        self.spans = request.spans
        self._request = request

    def failed(self, error: AgentError) -> None:
        """Log a request that was refused or failed."""
        _, ref, trace, project = self._request
        log_failure(error, execution_ref=ref, trace=trace, project=project)

    def end(self) -> None:
        """Export the request's spans, inside the bound of ``span_export``."""
        self.spans.end()

    def _log(self, message: str, fields: Mapping[str, Field], *, execution_ref: str | None = None) -> None:
        """Log one event of the request, under its own reference if not under another."""
        _, ref, trace, project = self._request
        log_event(message, execution_ref=execution_ref or ref, trace=trace, project=project, fields=fields)


class Reporting:
    """Where the reports of all requests go. ``project`` is the Google Cloud project that traces are named by."""

    def __init__(self, tracing: Tracing, *, project: str | None) -> None:
        self._tracing = tracing
        self._project = project

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self:
        """Telemetry as ``environ`` asks for it. Raises ConfigurationError for an endpoint that is no URL."""
        return cls(Tracing.from_env(environ), project=environ.get("GOOGLE_CLOUD_PROJECT", "").strip() or None)

    def close(self) -> None:
        """Let go of the connection to the collector."""
        self._tracing.close()

    def _begun(self, environ: Mapping[str, Any], ref: str) -> Request:
        """Start a request from its WSGI environment: its trace context comes from the headers."""
        trace = trace_context(environ.get("HTTP_TRACEPARENT"), environ.get("HTTP_X_CLOUD_TRACE_CONTEXT"))
        return Request(self._tracing.request(trace, ref), ref, trace, self._project)
