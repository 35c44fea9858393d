"""Spans reach whoever is to have them, hold no content, and never hold a request up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from opentelemetry import trace as api
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agent.errors import InternalError, StoreConnectionError, ValidationError
from agent.observability import Telemetry
from agent.observability.collector import collector_from
from agent.observability.trace_context import TraceContext
from agent.observability.tracing import Spans, Tracing
from tests.observability.conftest import Clock, RecordedLog
from tests.observability.peers import SpanCollector, StuckPeer, refusing_url

PROJECT = Path(__file__).resolve().parents[2]
REF = "3f0c9a1e-0000-4000-8000-000000000001"
TRACE = TraceContext("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", sampled=True)
UNSAMPLED = TraceContext(TRACE.trace_id, TRACE.span_id, sampled=False)
CANARY = "canary my password is hunter2"
PAUSED = "telemetry paused: the collector does not take spans"
# Twice the half second that a request may wait, and some more for a busy machine.
BOUNDED_S = 1.5

MakeTracing = Callable[..., Tracing]


@pytest.fixture
def tracing_for(clock: Clock) -> Iterator[MakeTracing]:
    """Makes tracing that knows of no host, and closes it."""
    made: list[Tracing] = []

    def make(environ: Mapping[str, str], modules: Mapping[str, ModuleType] | None = None) -> Tracing:
        made.append(Tracing(collector_from(environ), environ=environ, clock=clock, modules=modules or {}))
        return made[-1]

    yield make
    for tracing in made:
        tracing.close()


def capture(tracing: Tracing, trace: TraceContext | None = TRACE) -> float:
    """The three steps of a capture; how many seconds they took, export included."""
    before = time.monotonic()
    spans = tracing.request(trace, REF)
    with spans.span("validate"):
        pass
    with spans.span("build"):
        pass
    with spans.span("append"):
        spans.set(duplicate=False, turns=10, bytes=6400)
    spans.end()
    return time.monotonic() - before


def foreign(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What other loggers than ours have said."""
    return [record.getMessage() for record in caplog.records if record.name != "agent"]


def attributes(span: Span) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value") or "") for each in span.attributes}


def test_a_collector_receives_the_three_spans_as_children_of_the_incoming_trace(
    collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    capture(tracing_for({"LLM_OBSERVATORY_URL": collector.url}))
    assert collector.paths == ["/v1/traces"]
    spans = collector.spans()
    assert [span.name for span in spans] == [f"conversation_memory.{name}" for name in ("validate", "build", "append")]
    assert {span.trace_id.hex() for span in spans} == {TRACE.trace_id}
    assert {span.parent_span_id.hex() for span in spans} == {TRACE.span_id}
    assert all(span.status.code == Status.STATUS_CODE_UNSET for span in spans)
    assert [attributes(span) for span in spans[:2]] == [{"conversation_memory.execution_ref": REF}] * 2
    assert attributes(spans[2]) == {
        "conversation_memory.execution_ref": REF,
        "conversation_memory.duplicate": False,
        "conversation_memory.turns": 10,
        "conversation_memory.bytes": 6400,
    }
    assert collector.resource()["service.name"] == "conversation-memory-agent"


@pytest.mark.parametrize("variable", ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"])
def test_the_standard_variables_name_a_collector_too(
    variable: str, collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    suffix = "/custom" if variable.endswith("TRACES_ENDPOINT") else ""
    capture(tracing_for({variable: collector.url + suffix, "OTEL_SERVICE_NAME": "memory-of-ours"}))
    assert collector.paths == [suffix or "/v1/traces"]
    assert collector.resource()["service.name"] == "memory-of-ours"


def test_a_connection_is_used_again_and_what_was_sent_is_not_sent_again(
    collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    tracing = tracing_for({"LLM_OBSERVATORY_URL": collector.url})
    for _ in range(5):
        capture(tracing)
    spans = tracing.request(TRACE, REF)
    with spans.span("validate"):
        pass
    spans.end()
    spans.end()
    assert len(collector.spans()) == 16
    assert len(collector.connections) == 1


@pytest.mark.parametrize("trace", [None, TraceContext(TRACE.trace_id, None, sampled=True)])
def test_without_an_incoming_span_the_steps_are_roots(
    trace: TraceContext | None, collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    capture(tracing_for({"LLM_OBSERVATORY_URL": collector.url}), trace)
    assert {span.parent_span_id for span in collector.spans()} == {b""}


def test_a_trace_that_is_not_sampled_is_not_exported(collector: SpanCollector, tracing_for: MakeTracing) -> None:
    tracing = tracing_for({"LLM_OBSERVATORY_URL": collector.url})
    capture(tracing, UNSAMPLED)
    assert collector.bodies == []
    capture(tracing)
    assert len(collector.spans()) == 3


@pytest.mark.parametrize(
    ("error", "error_type", "status"),
    [
        (ValidationError(CANARY), "VALIDATION_ERROR", Status.STATUS_CODE_UNSET),
        (StoreConnectionError(CANARY), "RUVECTOR_CONNECTION_ERROR", Status.STATUS_CODE_ERROR),
        (InternalError(CANARY), "INTERNAL_ERROR", Status.STATUS_CODE_ERROR),
        (ValueError(CANARY), "ValueError", Status.STATUS_CODE_ERROR),
        (SystemExit(CANARY), "SystemExit", Status.STATUS_CODE_ERROR),
    ],
)
def test_a_step_that_fails_tells_the_type_of_its_error_and_nothing_else_of_it(
    error: BaseException, error_type: str, status: int, collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    spans = tracing_for({"LLM_OBSERVATORY_URL": collector.url}).request(TRACE, REF)
    with pytest.raises(type(error)) as caught, spans.span("append"):
        raise error
    assert caught.value is error
    spans.end()
    (span,) = collector.spans()
    assert attributes(span)["error.type"] == error_type
    assert span.status.code == status
    assert (span.status.message, list(span.events)) == ("", [])
    assert b"canary" not in collector.bodies[0]


def test_an_attribute_that_is_no_id_and_no_count_is_told_by_its_type(
    collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    spans = tracing_for({"LLM_OBSERVATORY_URL": collector.url}).request(TRACE, REF)
    spans.set(turns=1)  # no span is open: nothing to put it on
    with spans.span("validate"):
        spans.set(turns=2, content=CANARY)
    spans.end()
    assert attributes(collector.spans()[0])["conversation_memory.content"] == "<str>"
    assert attributes(collector.spans()[0])["conversation_memory.turns"] == 2
    assert b"canary" not in collector.bodies[0]


def test_a_step_inside_another_is_its_sibling_and_takes_the_attributes_while_it_is_open(
    collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    spans = tracing_for({"LLM_OBSERVATORY_URL": collector.url}).request(TRACE, REF)
    with spans.span("build"):
        with spans.span("validate"):
            spans.set(turns=1)
        spans.set(bytes=2)
    spans.end()
    inner, outer = collector.spans()
    assert (inner.name, outer.name) == ("conversation_memory.validate", "conversation_memory.build")
    assert attributes(inner)["conversation_memory.turns"] == 1
    assert attributes(outer)["conversation_memory.bytes"] == 2


@pytest.mark.parametrize("status", [302, 400, 404, 429, 500, 503])
def test_a_collector_that_refuses_is_left_alone_after_three_times_and_tried_again_later(
    status: int,
    collector: SpanCollector,
    tracing_for: MakeTracing,
    clock: Clock,
    log: RecordedLog,
    caplog: pytest.LogCaptureFixture,
) -> None:
    collector.status = status
    collector.headers = {"Retry-After": "30", "Location": f"{collector.url}/elsewhere"}
    tracing = tracing_for({"LLM_OBSERVATORY_URL": collector.url})
    assert max(capture(tracing) for _ in range(5)) < BOUNDED_S
    assert len(collector.bodies) == 3
    collector.status = 200
    clock.now += 31
    assert capture(tracing) < BOUNDED_S
    assert len(collector.bodies) == 4
    assert [(entry["message"], entry["spans_dropped"]) for entry in log.entries()] == [
        (PAUSED, 9),
        ("telemetry resumed", 15),
    ]
    # The exporter's own log lines repeat the collector's text.
    assert foreign(caplog) == []


def test_a_collector_that_asks_to_be_asked_again_at_once_is_asked_within_the_bound(
    collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    collector.status = 429
    collector.headers = {"Retry-After": "0"}
    assert capture(tracing_for({"LLM_OBSERVATORY_URL": collector.url})) < BOUNDED_S


def test_a_collector_that_answers_at_length_is_cut_off(collector: SpanCollector, tracing_for: MakeTracing) -> None:
    collector.body = b"x" * 5_000_000
    tracing = tracing_for({"LLM_OBSERVATORY_URL": collector.url})
    assert max(capture(tracing) for _ in range(2)) < BOUNDED_S
    assert len(collector.bodies) == 2
    assert len(collector.connections) == 2


def test_nobody_at_the_address_costs_no_request_its_answer(
    tracing_for: MakeTracing, log: RecordedLog, caplog: pytest.LogCaptureFixture
) -> None:
    tracing = tracing_for({"LLM_OBSERVATORY_URL": refusing_url()})
    assert max(capture(tracing) for _ in range(5)) < BOUNDED_S
    assert log.messages() == [PAUSED]
    assert foreign(caplog) == []


@pytest.mark.parametrize("trickle", [False, True])
def test_a_collector_that_accepts_and_never_comes_to_an_end_costs_half_a_second_three_times(
    trickle: bool,
    stuck_peer: Callable[..., StuckPeer],
    tracing_for: MakeTracing,
    clock: Clock,
    log: RecordedLog,
) -> None:
    peer = stuck_peer(trickle=trickle)
    tracing = tracing_for({"LLM_OBSERVATORY_URL": peer.url})
    capture(tracing, UNSAMPLED)  # pays for the import of the SDK
    times = [capture(tracing) for _ in range(5)]
    assert max(times) < BOUNDED_S
    assert min(times[:3]) > 0.3
    assert log.messages() == [PAUSED]
    accepted = peer.accepted
    capture(tracing)
    assert peer.accepted == accepted
    clock.now += 31
    assert capture(tracing) < BOUNDED_S
    assert peer.accepted == accepted + 1


# --- a host that has set a tracer provider ---


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
    assert (
        names(spans) == ["conversation_memory.validate", "conversation_memory.build", "conversation_memory.append"] * 2
    )
    assert {span.parent.span_id for span in spans if span.parent} == {int(str(TRACE.span_id), 16)}


def test_a_provider_that_takes_the_place_of_another_gets_the_spans(
    host: Host, received: InMemorySpanExporter, tracing_for: MakeTracing
) -> None:
    taken_over, host.provider = host.provider, TracerProvider(shutdown_on_exit=False)
    tracing = tracing_for({}, host.modules)
    capture(tracing)
    assert received.get_finished_spans() == ()
    host.provider = taken_over
    capture(tracing)
    assert len(received.get_finished_spans()) == 3


def test_a_span_of_the_host_that_is_current_is_the_parent(
    host: Host, received: InMemorySpanExporter, tracing_for: MakeTracing
) -> None:
    tracer = host.modules["opentelemetry.trace"].get_tracer_provider().get_tracer("host")
    with tracer.start_as_current_span("server") as server:
        spans = tracing_for({}, host.modules).request(TRACE, REF)
        with spans.span("append"), tracer.start_as_current_span("client"):
            pass
        spans.end()
    client, append, _ = received.get_finished_spans()
    assert append.parent == server.get_span_context()
    assert client.parent == append.context


def test_the_standard_endpoint_is_left_to_such_a_host_and_the_observatory_is_not(
    host: Host, received: InMemorySpanExporter, collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    capture(tracing_for({"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}, host.modules))
    assert (len(received.get_finished_spans()), len(collector.bodies)) == (3, 0)
    capture(tracing_for({"LLM_OBSERVATORY_URL": collector.url}, host.modules))
    assert (len(received.get_finished_spans()), len(collector.spans())) == (3, 3)


@pytest.mark.parametrize("provider", [api.ProxyTracerProvider(), api.NoOpTracerProvider()])
def test_an_imported_api_without_a_provider_is_no_host(
    provider: Any, collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    capture(tracing_for({}, Host(provider).modules))
    capture(tracing_for({"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}, Host(provider).modules))
    assert len(collector.spans()) == 3


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


def test_an_sdk_that_cannot_be_used_is_said_once_and_costs_no_request(log: RecordedLog, clock: Clock) -> None:
    class Unreadable(dict[str, str]):
        def get(self, *arguments: Any) -> Any:
            raise LookupError(CANARY)

    collector = collector_from({"LLM_OBSERVATORY_URL": refusing_url()})
    tracing = Tracing(collector, environ=Unreadable(), clock=clock, modules={})
    capture(tracing)
    capture(tracing)
    (entry,) = log.entries()
    assert (entry["message"], entry["exceptions"][0]["type"]) == ("telemetry unavailable", "LookupError")
    assert "canary" not in log.text
    tracing.close()


def test_a_host_provider_has_nothing_to_close(host: Host, tracing_for: MakeTracing) -> None:
    tracing = tracing_for({}, host.modules)
    capture(tracing)
    tracing.close()
    capture(tracing)


def test_the_resource_attributes_of_the_process_name_the_service_where_nothing_else_does() -> None:
    done = run(
        """
        from agent.observability.otlp import tracer_provider
        resources = [tracer_provider(environ).resource for environ in ({}, {"OTEL_SERVICE_NAME": "b"})]
        print(json.dumps([resource.attributes["service.name"] for resource in resources]))
        """,
        OTEL_RESOURCE_ATTRIBUTES="service.name=a,team=memory",
    )
    assert done == ["a", "b"]


# --- what only a process of its own can show ---

PRELUDE = """
import json, os, sys
from agent.observability import Telemetry

def capture(telemetry, flags="01"):
    traceparent = f"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-{flags}"
    request = telemetry.begin({"HTTP_TRACEPARENT": traceparent}, "ref-1")
    for name in ("validate", "build", "append"):
        with request.spans.span(name):
            request.spans.set(turns=1)
    request.captured(execution_ref="ref-1", duplicate=False, turns=1, received_bytes=1, latency_ms=1)
    request.end()
"""


def start(script: str, **environ: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "LLM_"))}
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(script)],
        cwd=PROJECT,
        env={**kept, **environ},
        stdout=subprocess.PIPE,
        text=True,
    )


def run(script: str, **environ: str) -> Any:
    """What ``script`` prints, as JSON."""
    with start(script, **environ) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return json.loads(output)


@pytest.mark.slow
def test_without_an_endpoint_nothing_of_opentelemetry_is_imported() -> None:
    loaded = run(
        """
        capture(Telemetry.from_env(os.environ))
        print(json.dumps([name for name in sys.modules if name.startswith(("opentelemetry", "requests"))]))
        """
    )
    assert loaded == []


@pytest.mark.slow
def test_the_sdk_is_not_imported_because_the_api_is_there() -> None:
    loaded = run(
        """
        import opentelemetry.trace
        capture(Telemetry.from_env(os.environ))
        ours = ("opentelemetry.sdk", "opentelemetry.exporter")
        print(json.dumps([name for name in sys.modules if name.startswith(ours)]))
        """
    )
    assert loaded == []


@pytest.mark.slow
def test_a_provider_that_is_set_after_the_start_gets_the_spans() -> None:
    spans = run(
        """
        telemetry = Telemetry.from_env(os.environ)
        capture(telemetry)
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        received = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(received))
        trace.set_tracer_provider(provider)
        capture(telemetry)
        capture(telemetry, flags="00")
        print(json.dumps([[span.name, f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}"]
                          for span in received.get_finished_spans()]))
        """
    )
    assert spans == [
        [f"conversation_memory.{name}", TRACE.trace_id, TRACE.span_id] for name in ("validate", "build", "append")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("trickle", [False, True])
def test_a_process_with_a_stuck_collector_ends_soon_after_sigterm(
    trickle: bool, stuck_peer: Callable[..., StuckPeer]
) -> None:
    script = """
        import signal, threading
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        telemetry = Telemetry.from_env(os.environ)
        capture(telemetry)
        print("ready", flush=True)
        while True:
            capture(telemetry)
            threading.Event().wait(0.01)
        """
    with start(script, LLM_OBSERVATORY_URL=stuck_peer(trickle=trickle).url) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        before = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    # Cloud Run waits for ten seconds (H08); the export's bound and the interpreter's end are all that is needed.
    assert time.monotonic() - before < 5


@pytest.mark.slow
def test_a_process_that_ends_by_itself_does_not_wait_for_a_stuck_collector(
    stuck_peer: Callable[..., StuckPeer],
) -> None:
    before = time.monotonic()
    ended = run("capture(Telemetry.from_env(os.environ)); print(1)", LLM_OBSERVATORY_URL=stuck_peer(trickle=True).url)
    assert ended == 1
    assert time.monotonic() - before < 10


def test_telemetry_that_is_asked_for_wrongly_is_refused_at_start() -> None:
    from agent.errors import ConfigurationError

    with pytest.raises(ConfigurationError):
        Telemetry.from_env({"LLM_OBSERVATORY_URL": "observatory"})


def test_spans_of_nobody_and_of_somebody_have_the_same_face(tracing_for: MakeTracing, host: Host) -> None:
    faces: list[Spans] = [tracing_for({}).request(TRACE, REF), tracing_for({}, host.modules).request(TRACE, REF)]
    for spans in faces:
        with spans.span("validate") as entered:
            spans.set(turns=1)
        spans.end()
        assert entered is None
