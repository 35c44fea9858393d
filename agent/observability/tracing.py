"""The spans of a request, through the OpenTelemetry API: validate, build, append; of a recall load and respond.

Where they go is decided per request, in this order:

1. ``LLM_OBSERVATORY_URL`` is ours alone: a tracer provider of our own, not a global one, exports there.
2. The host process has set a tracer provider (auto-instrumentation): our spans go through it, whatever it does.
3. ``OTEL_EXPORTER_OTLP_(TRACES_)ENDPOINT``, which such a host reads as well: a provider of our own, as in 1.
4. Else nowhere, and nothing of OpenTelemetry is imported.

A span carries ids and counts. Neither an exception's message nor its stack is recorded on it (CONTRACT 8), and no
failure of telemetry is raised into a request.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from agent import __version__
from agent.errors import AgentError
from agent.observability.collector import Collector, collector_from
from agent.observability.logs import log_event, safe_field, type_name
from agent.observability.span_export import SpanExport
from agent.observability.trace_context import TraceContext

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer, TracerProvider

SCOPE: Final = "conversation_memory"
_API: Final = "opentelemetry.trace"
_NOTHING: Final = nullcontext()


class Spans(Protocol):
    """The spans of one request."""

    def span(self, name: str) -> AbstractContextManager[None]:
        """Time the step ``name`` (such as validate) as a child of the incoming trace."""

    def set(self, **attributes: str | int | bool) -> None:
        """Put ids and counts on the span that is open."""

    def end(self) -> None:
        """Export what was recorded, where that is ours to do; blocks no longer than the export's bound."""


class NoSpans:
    """The spans of a request that nobody watches."""

    def span(self, name: str) -> AbstractContextManager[None]:  # noqa: ARG002 - the port's parameter
        return _NOTHING

    def set(self, **attributes: str | int | bool) -> None: ...

    def end(self) -> None: ...


class Destination(NamedTuple):
    """A tracer; ``export`` only where its provider is our own, so that nobody else sends its spans."""

    tracer: Tracer
    export: SpanExport | None


class Tracing:
    """Gives each request its spans; ``collector`` is where to export them to, ``clock`` monotonic seconds.

    ``modules`` are those that the process has imported: only there can a host's tracer provider be.
    """

    def __init__(
        self,
        collector: Collector | None,
        *,
        environ: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
        modules: Mapping[str, ModuleType] = sys.modules,
    ) -> None:
        self._collector = collector
        self._environ = environ
        self._clock = clock
        self._modules = modules
        self._own: Destination | None = None
        self._own_tried = False
        self._host: tuple[TracerProvider, Destination] | None = None
        self._lock = threading.Lock()

    @classmethod
    def from_env(cls, environ: Mapping[str, str], *, clock: Callable[[], float] = time.monotonic) -> Tracing:
        """Tracing as ``environ`` asks for it. Raises ConfigurationError for an endpoint that is no URL."""
        return cls(collector_from(environ), environ=environ, clock=clock)

    def request(self, trace: TraceContext | None, execution_ref: str) -> Spans:
        """Begin the spans of one request: children of the span that is current, else of ``trace``, else roots."""
        with suppress(Exception):  # no failure of telemetry reaches a request
            destination = self._destination()
            if destination is not None:
                return RecordedSpans(destination, _parent(trace), execution_ref)
        return NoSpans()

    def close(self) -> None:
        """Close the connection to the collector; spans of later requests are dropped."""
        if self._own is not None and self._own.export is not None:
            self._own.export.close()

    def _destination(self) -> Destination | None:
        if self._collector is None:
            return self._host_destination()
        if self._collector.ours:
            return self._own_destination(self._collector)
        return self._host_destination() or self._own_destination(self._collector)

    def _host_destination(self) -> Destination | None:
        # Whoever has set a provider has imported the API; importing it here would only cost the cold start.
        api = self._modules.get(_API)
        if api is None:
            return None
        provider: TracerProvider = api.get_tracer_provider()
        if isinstance(provider, api.ProxyTracerProvider | api.NoOpTracerProvider):
            return None
        if self._host is None or self._host[0] is not provider:
            self._host = (provider, Destination(provider.get_tracer(SCOPE, __version__), None))
        return self._host[1]

    def _own_destination(self, collector: Collector) -> Destination | None:
        if self._own is None:
            with self._lock:
                if not self._own_tried:
                    self._own_tried = True
                    self._own = self._build_own(collector)
        return self._own

    def _build_own(self, collector: Collector) -> Destination | None:
        """Make the destination that exports to ``collector``; None, logged once, where the SDK cannot be used."""
        try:
            # The SDK and its exporter are a third of a cold start: only an instance that exports pays for them.
            from agent.observability.otlp import exporter_to, tracer_provider

            tracer = tracer_provider(self._environ).get_tracer(SCOPE, __version__)
            return Destination(tracer, SpanExport(exporter_to(collector.url), clock=self._clock))
        except Exception as error:  # noqa: BLE001 - a broken installation of the SDK costs the spans, not the captures
            log_event("telemetry unavailable", level=logging.ERROR, error=error)
            return None


class RecordedSpans:
    """The spans of one request; used by the one thread that answers it."""

    def __init__(self, destination: Destination, parent: Context | None, execution_ref: str) -> None:
        self._destination = destination
        self._parent = parent
        self._execution_ref = execution_ref
        self._open: list[Span] = []
        self._ended: list[Span] = []

    def span(self, name: str) -> AbstractContextManager[None]:
        return _Step(self, name)

    def set(self, **attributes: str | int | bool) -> None:
        with suppress(Exception):  # no failure of telemetry reaches a request
            span = self._open[-1]
            for name, value in attributes.items():
                span.set_attribute(f"{SCOPE}.{name}", safe_field(value))

    def end(self) -> None:
        if self._ended and self._destination.export is not None:
            ended, self._ended = self._ended, []
            self._destination.export.send(ended)

    def start(self, name: str) -> Span:
        span = self._destination.tracer.start_span(
            f"{SCOPE}.{name}",
            context=self._parent,
            attributes={f"{SCOPE}.execution_ref": self._execution_ref},
        )
        self._open.append(span)
        return span

    def finish(self, span: Span, error: BaseException | None) -> None:
        self._open.remove(span)
        if error is not None:
            _mark(span, error)
        recorded = span.is_recording() and span.get_span_context().trace_flags.sampled
        span.end()
        if recorded and self._destination.export is not None:
            self._ended.append(span)


class _Step:
    """A span that is open, and current for what runs inside it, while its block runs.

    The span's own context manager is not used: it would record an exception with its message.
    """

    def __init__(self, spans: RecordedSpans, name: str) -> None:
        self._spans = spans
        self._name = name
        self._span: Span | None = None
        self._token: Any = None

    def __enter__(self) -> None:
        with suppress(Exception):  # no failure of telemetry reaches a request
            from opentelemetry import context, trace

            self._span = self._spans.start(self._name)
            self._token = context.attach(trace.set_span_in_context(self._span))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(Exception):
            if self._span is not None:
                from opentelemetry import context

                context.detach(self._token)
                self._spans.finish(self._span, error)


def _mark(span: Span, error: BaseException) -> None:
    """Say by ``error.type`` that a step ended in an exception; a refusal of the caller's input is no error of ours."""
    from opentelemetry.trace import StatusCode

    if isinstance(error, AgentError):
        name, failed = error.error_code, error.status >= 500
    else:
        name, failed = type_name(type(error)), True
    span.set_attribute("error.type", name)
    if failed:
        span.set_status(StatusCode.ERROR)


def _parent(trace: TraceContext | None) -> Context | None:
    """Make the context that spans start in; None is the current one, which an instrumented host has filled."""
    from opentelemetry import trace as api

    if trace is None or trace.span_id is None or api.get_current_span().get_span_context().is_valid:
        return None
    flags = api.TraceFlags(api.TraceFlags.SAMPLED if trace.sampled else api.TraceFlags.DEFAULT)
    remote = api.SpanContext(int(trace.trace_id, 16), int(trace.span_id, 16), is_remote=True, trace_flags=flags)
    return api.set_span_in_context(api.NonRecordingSpan(remote))
