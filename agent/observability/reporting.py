"""What the telemetry of every function has in common: where it goes, and how a request that failed is told."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from agent.errors import AgentError
from agent.observability.destinations import Destinations
from agent.observability.logs import Field, log_event, log_failure
from agent.observability.measures import Measures
from agent.observability.trace_context import TraceContext, forwarded, trace_context
from agent.observability.tracing import NoSpans, Spans, Tracing

# Of a caller's key, as ``memory-graph store keys`` lists it. A label of no metric: a series for each key has no end.
KEY_NAME: Final = "key_name"


class Request(NamedTuple):
    """One request as its telemetry knows it: its spans, its own reference, the trace that its caller is in.

    ``elapsed`` gives seconds since it began.
    """

    spans: Spans
    measures: Measures
    elapsed: Callable[[], float]
    ref: str
    trace: TraceContext | None
    project: str | None


class RequestReport(ABC):
    """What one request reports about itself; used by the one thread that answers it."""

    def __init__(self, request: Request) -> None:
        self.spans = request.spans
        self._request = request
        self._measures = request.measures
        # What every line of this request tells.
        self._about: dict[str, Field] = {}

    @property
    def trace(self) -> TraceContext | None:
        """Where the request stands in a trace: its own span, else its caller's."""
        return self.spans.trace or self._request.trace

    def called_by(self, key_name: str) -> None:
        """Say in every line from now on that the caller is known by the key of this name."""
        self._about[KEY_NAME] = key_name

    def failed(self, error: AgentError, *, status: int | None = None) -> None:
        """Log a request that was refused or failed, and mark its span by the ``status`` that it was answered with."""
        if self._is_counted(error):
            self.spans.answered(error.status if status is None else status, error)
            self._count_failure(error)
        ref, project = self._request.ref, self._request.project
        log_failure(error, execution_ref=ref, trace=self.trace, project=project, about=self._about)

    def end(self) -> None:
        """Export the request's spans, and metrics where it is time, inside the bound of ``bounded_export``."""
        self.spans.end()
        self._measures.flush()

    @abstractmethod
    def _is_counted(self, error: AgentError | None) -> bool:
        """Whether the request is one of those that metrics count and traces show."""

    @abstractmethod
    def _count_failure(self, error: AgentError) -> None:
        """Add a request that was refused or failed to the metrics."""

    def _log(self, message: str, fields: Mapping[str, Field], *, execution_ref: str | None = None) -> None:
        """Log one event of the request, under its own reference if not under another."""
        ref, project = self._request.ref, self._request.project
        told = {**self._about, **fields}
        log_event(message, execution_ref=execution_ref or ref, trace=self.trace, project=project, fields=told)


class Reporting:
    """Where the reports of all requests go. ``name`` is that of their spans.

    ``project`` is the Google Cloud project that traces are named by; ``clock`` is monotonic seconds.
    """

    def __init__(
        self,
        destinations: Destinations,
        *,
        name: str,
        project: str | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._destinations = destinations
        self._tracing = Tracing(destinations, name=name)
        self._measures = Measures(destinations)
        self._project = project
        self._clock = clock

    def close(self) -> None:
        """Send what is left and let go of the connection to the collector."""
        self._destinations.close()

    def _begun(self, environ: Mapping[str, Any], ref: str, *, has_spans: bool = True) -> Request:
        """Start a request from its WSGI environment: its trace context comes from the headers.

        One that can have no spans needs nothing of OpenTelemetry: a first answer to it waits for no import.
        """
        started, traceparent = self._clock(), environ.get("HTTP_TRACEPARENT")
        trace = trace_context(traceparent, environ.get("HTTP_X_CLOUD_TRACE_CONTEXT"))
        header = forwarded(traceparent)
        spans = self._tracing.request(trace, ref, header) if has_spans else NoSpans(header)
        return Request(spans, self._measures, lambda: self._clock() - started, ref, trace, self._project)


def project_of(environ: Mapping[str, str]) -> str | None:
    """The Google Cloud project that traces are named by, None where none is named."""
    return environ.get("GOOGLE_CLOUD_PROJECT", "").strip() or None


def is_refusal(error: AgentError) -> bool:
    """Whether the caller is to change something (4xx); a rate limit is a failure, which a later time mends."""
    return 400 <= error.status < 500 and error.status != 429
