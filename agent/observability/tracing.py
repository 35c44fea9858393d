"""The spans of a request, through the OpenTelemetry API: one of its own, and under it one for each of its steps.

A capture has validate, build, append; a recall load and respond. The span of the request begins when the request did,
and only where a step or an outcome is told: health answers have none. Where they go, ``destinations`` decides.

A span carries ids and counts. Neither an exception's message nor its stack is recorded on it (CONTRACT 8), and no
failure of telemetry is raised into a request.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from agent.errors import AgentError
from agent.observability.destinations import Destinations, Traced
from agent.observability.logs import safe_field, type_name
from agent.observability.metric_table import SCOPE
from agent.observability.trace_context import TraceContext, written

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span

# Steps that call another service.
_CALLS: Final = frozenset({"append"})
_NOTHING: Final = nullcontext()


class Spans(Protocol):
    """The spans of one request."""

    @property
    def trace(self) -> TraceContext | None:
        """The place of the request's own span; None where it has none."""

    @property
    def traceparent(self) -> str | None:
        """The W3C header for what is called inside the open step; None where the request is of no trace."""

    def span(self, name: str) -> AbstractContextManager[None]:
        """Time the step ``name`` (such as validate) as a child of the request's own span."""

    def set(self, **attributes: str | int | bool) -> None:
        """Put ids and counts on the span that is open, the request's own where no step is."""

    def conversation(self, conversation_id: str, *, input_tokens: int | None, output_tokens: int | None) -> None:
        """Say on the request's own span which conversation it is of, and how many tokens that took."""

    def answered(self, status: int, error: AgentError | None) -> None:
        """Say on the request's own span what came of it."""

    def end(self) -> None:
        """Export what was recorded, where that is ours to do; blocks no longer than the export's bound."""


class NoSpans:
    """The spans of a request that nobody watches; ``traceparent`` is its caller's."""

    trace: TraceContext | None = None

    def __init__(self, traceparent: str | None = None) -> None:
        self.traceparent = traceparent

    def span(self, name: str) -> AbstractContextManager[None]:  # noqa: ARG002 - the port's parameter
        return _NOTHING

    def set(self, **attributes: str | int | bool) -> None: ...

    def conversation(self, conversation_id: str, *, input_tokens: int | None, output_tokens: int | None) -> None: ...

    def answered(self, status: int, error: AgentError | None) -> None: ...

    def end(self) -> None: ...


class Begun(NamedTuple):
    """A request whose spans begin: its ``name`` (capture, recall), its reference, its caller's header to pass on."""

    name: str
    ref: str
    traceparent: str | None
    at_ns: int
    now_ns: Callable[[], int]


class Tracing:
    """Gives each request its spans.

    ``wall_ns`` is nanoseconds since 1970 and tells when a request began, ``steady_ns`` never goes back and tells how
    long it and its steps took: no span ends before it begins, and none sticks out of its parent.
    """

    def __init__(
        self,
        destinations: Destinations,
        *,
        name: str,
        wall_ns: Callable[[], int] = time.time_ns,
        steady_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._destinations = destinations
        self._name = name
        self._wall_ns = wall_ns
        self._steady_ns = steady_ns

    def request(self, trace: TraceContext | None, ref: str, traceparent: str | None = None) -> Spans:
        """Begin the spans of one request: under the span that is current, else under ``trace``, else under none."""
        with suppress(Exception):  # no failure of telemetry reaches a request
            traced = self._destinations.traces()
            if traced is not None:
                offset_ns = self._wall_ns() - self._steady_ns()

                def now_ns() -> int:
                    return offset_ns + self._steady_ns()

                return RecordedSpans(traced, _parent(trace), Begun(self._name, ref, traceparent, now_ns(), now_ns))
        return NoSpans(traceparent)


class RecordedSpans:
    """The spans of one request; used by the one thread that answers it."""

    def __init__(self, traced: Traced, parent: Context | None, begun: Begun) -> None:
        self._traced = traced
        self._parent = parent
        self._begun = begun
        self._own: Span | None = None
        self._open: list[Span] = []
        self._ended: list[Span] = []

    @property
    def trace(self) -> TraceContext | None:
        with suppress(Exception):  # no failure of telemetry reaches a request
            context = None if self._own is None else self._own.get_span_context()
            if context is not None and context.is_valid:
                sampled = context.trace_flags.sampled
                return TraceContext(f"{context.trace_id:032x}", f"{context.span_id:016x}", sampled)
        return None

    @property
    def traceparent(self) -> str | None:
        with suppress(Exception):
            context = self._open[-1].get_span_context()
            if context.is_valid:
                ids = f"{context.trace_id:032x}", f"{context.span_id:016x}"
                return written(*ids, sampled=context.trace_flags.sampled)
        return self._begun.traceparent

    def span(self, name: str) -> AbstractContextManager[None]:
        return _Step(self, name)

    def set(self, **attributes: str | int | bool) -> None:
        with suppress(Exception):
            span = self._open[-1] if self._open else self._own
            if span is not None:
                for name, value in attributes.items():
                    span.set_attribute(f"{SCOPE}.{name}", safe_field(value))

    def conversation(self, conversation_id: str, *, input_tokens: int | None, output_tokens: int | None) -> None:
        # Semantic conventions, "Generative AI": registry attributes of gen_ai.
        with suppress(Exception):
            span = self._whole()
            span.set_attribute("gen_ai.conversation.id", safe_field(conversation_id))
            for name, tokens in (("input", input_tokens), ("output", output_tokens)):
                if tokens is not None:
                    span.set_attribute(f"gen_ai.usage.{name}_tokens", safe_field(tokens))

    def answered(self, status: int, error: AgentError | None) -> None:
        with suppress(Exception):
            span = self._whole()
            span.set_attribute("http.response.status_code", status)
            if error is not None:
                _mark(span, error)

    def end(self) -> None:
        with suppress(Exception):
            if self._own is not None:
                own, self._own = self._own, None
                self.close(own)
        if self._ended and self._traced.export is not None:
            ended, self._ended = self._ended, []
            self._traced.export.send(ended)

    def start(self, name: str) -> Span:
        from opentelemetry.trace import SpanKind, set_span_in_context

        span = self._traced.tracer.start_span(
            name,
            context=set_span_in_context(self._whole()),
            kind=SpanKind.CLIENT if name in _CALLS else SpanKind.INTERNAL,
            start_time=self._begun.now_ns(),
            attributes={f"{SCOPE}.execution_ref": self._begun.ref},
        )
        self._open.append(span)
        return span

    def finish(self, span: Span, error: BaseException | None) -> None:
        self._open.remove(span)
        if error is not None:
            _mark(span, error)
        self.close(span)

    def _whole(self) -> Span:
        """The span of the request itself, begun by whoever first needs it, at the instant when the request did."""
        if self._own is None:
            from opentelemetry.trace import SpanKind

            self._own = self._traced.tracer.start_span(
                self._begun.name,
                context=self._parent,
                kind=SpanKind.SERVER,
                start_time=self._begun.at_ns,
                attributes={f"{SCOPE}.execution_ref": self._begun.ref},
            )
        return self._own

    def close(self, span: Span) -> None:
        """End a span of ours: every one ends here."""
        recorded = span.is_recording() and span.get_span_context().trace_flags.sampled
        span.end(self._begun.now_ns())
        if recorded and self._traced.export is not None:
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
