"""A host that has set a tracer provider gets the spans, and a broken one costs no request its answer."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from opentelemetry import trace as api
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agent.observability.tracing import Spans, Tracing
from tests.observability.captures import REF, TRACE, MakeTracing, capture
from tests.observability.conftest import Clock, RecordedLog, destinations_for
from tests.observability.peers import SpanCollector, refusing_url

CANARY = "canary my password is hunter2"


class Host:
    """The OpenTelemetry API as a process has imported it, with a provider that somebody has set."""

    def __init__(self, provider: Any) -> None:
        self.provider = provider
        module = ModuleType("opentelemetry.trace")
        module.__dict__.update(
            get_tracer_provider=lambda: self.provider,
            ProxyTracerProvider=api.ProxyTracerProvider,
            NoOpTracerProvider=api.NoOpTracerProvider,
        )
        self.modules = {"opentelemetry.trace": module}


@pytest.fixture
def received() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def host(received: InMemorySpanExporter) -> Iterator[Host]:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(received))
    yield Host(provider)
    provider.shutdown()


def names(spans: tuple[ReadableSpan, ...]) -> list[str]:
    return [span.name for span in spans]


def test_spans_go_through_the_provider_that_a_host_has_set(
    host: Host, received: InMemorySpanExporter, tracing_for: MakeTracing
) -> None:
    tracing = tracing_for({}, host.modules)
    capture(tracing)
    capture(tracing)
    spans = received.get_finished_spans()
    assert names(spans) == ["validate", "build", "append", "capture"] * 2
    parents = {span.parent.span_id for span in spans if span.parent and span.name.endswith("capture")}
    assert parents == {int(str(TRACE.span_id), 16)}


def test_a_provider_that_takes_the_place_of_another_gets_the_spans(
    host: Host, received: InMemorySpanExporter, tracing_for: MakeTracing
) -> None:
    taken_over, host.provider = host.provider, TracerProvider(shutdown_on_exit=False)
    tracing = tracing_for({}, host.modules)
    capture(tracing)
    assert received.get_finished_spans() == ()
    host.provider = taken_over
    capture(tracing)
    assert len(received.get_finished_spans()) == 4


def test_a_span_of_the_host_that_is_current_is_the_parent(
    host: Host, received: InMemorySpanExporter, tracing_for: MakeTracing
) -> None:
    tracer = host.modules["opentelemetry.trace"].get_tracer_provider().get_tracer("host")
    with tracer.start_as_current_span("server") as server:
        spans = tracing_for({}, host.modules).request(TRACE, REF)
        with spans.span("append"), tracer.start_as_current_span("client"):
            pass
        spans.end()
    client, append, whole, _ = received.get_finished_spans()
    assert whole.parent == server.get_span_context()
    assert append.parent == whole.context
    assert client.parent == append.context


def test_the_standard_endpoint_is_left_to_such_a_host_and_the_observatory_is_not(
    host: Host, received: InMemorySpanExporter, collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    capture(tracing_for({"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}, host.modules))
    assert (len(received.get_finished_spans()), len(collector.bodies)) == (4, 0)
    capture(tracing_for({"LLM_OBSERVATORY_URL": collector.url}, host.modules))
    assert (len(received.get_finished_spans()), len(collector.spans())) == (4, 4)


@pytest.mark.parametrize("provider", [api.ProxyTracerProvider(), api.NoOpTracerProvider()])
def test_an_imported_api_without_a_provider_is_no_host(
    provider: Any, collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    capture(tracing_for({}, Host(provider).modules))
    capture(tracing_for({"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}, Host(provider).modules))
    assert len(collector.spans()) == 4


class BrokenTracer:
    """A tracer of somebody else that raises wherever it is told to."""

    def __init__(self, where: str) -> None:
        self._where = where

    def get_tracer(self, *arguments: object) -> BrokenTracer:
        self._reach("get_tracer")
        return self

    def start_span(self, *arguments: object, **options: object) -> Any:
        self._reach("start_span")
        return BrokenSpan(self._where)

    def _reach(self, place: str) -> None:
        if place == self._where:
            raise RuntimeError(CANARY)


class BrokenSpan(api.NonRecordingSpan):
    def __init__(self, where: str) -> None:
        super().__init__(api.INVALID_SPAN_CONTEXT)
        self._where = where

    def set_attribute(self, key: str, value: Any) -> None:
        if self._where == "set_attribute":
            raise RuntimeError(CANARY)

    def end(self, end_time: int | None = None) -> None:
        if self._where == "end":
            raise RuntimeError(CANARY)


@pytest.mark.parametrize("where", ["get_tracer", "start_span", "set_attribute", "end"])
def test_a_broken_provider_of_a_host_costs_no_request_its_answer(where: str, tracing_for: MakeTracing) -> None:
    tracing = tracing_for({}, Host(BrokenTracer(where)).modules)
    capture(tracing)
    spans = tracing.request(TRACE, REF)
    with pytest.raises(KeyError), spans.span("append"):
        raise KeyError
    assert api.get_current_span() is api.INVALID_SPAN


def test_an_sdk_that_cannot_be_used_is_said_once_and_costs_no_request(
    log: RecordedLog, tracing_for: MakeTracing
) -> None:
    class Unreadable(dict[str, str]):
        def get(self, *arguments: Any) -> Any:
            if arguments[0].startswith("OTEL_SERVICE"):
                raise LookupError(CANARY)
            return super().get(*arguments)

    tracing = tracing_for(Unreadable({"LLM_OBSERVATORY_URL": refusing_url()}))
    capture(tracing)
    capture(tracing)
    (entry,) = log.entries()
    assert (entry["message"], entry["exceptions"][0]["type"]) == ("telemetry unavailable", "LookupError")
    assert "canary" not in log.text


def test_a_host_provider_has_nothing_to_close(host: Host, clock: Clock, received: InMemorySpanExporter) -> None:
    destinations = destinations_for({}, clock, host.modules)
    capture(Tracing(destinations, name="capture"))
    destinations.close()
    capture(Tracing(destinations, name="capture"))
    assert len(received.get_finished_spans()) == 8


def test_spans_of_nobody_and_of_somebody_have_the_same_face(tracing_for: MakeTracing, host: Host) -> None:
    faces: list[Spans] = [tracing_for({}).request(TRACE, REF), tracing_for({}, host.modules).request(TRACE, REF)]
    for spans in faces:
        with spans.span("validate") as entered:
            spans.set(turns=1)
        spans.end()
        assert entered is None
