"""What only a process of its own can show: what is imported, who has set a provider, and how it ends."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import pytest

from agent.observability.budget import DEFAULT_MS
from tests.observability.captures import TRACE
from tests.observability.peers import StuckPeer
from tests.observability.processes import run, start


@pytest.mark.slow
def test_without_an_endpoint_nothing_of_opentelemetry_is_imported() -> None:
    loaded = run(
        """
        from agent.errors import InternalError
        from agent.observability.recall_telemetry import RecallTelemetry
        capture(Telemetry.from_env(os.environ))
        recall = RecallTelemetry.from_env(os.environ).begin({"REQUEST_METHOD": "GET"}, "ref-2")
        recall.operating("state", is_open=False)
        recall.failed(InternalError("no"))
        recall.end()
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
        print(json.dumps([
            [span.name, *(f"{each:x}".zfill(16) for each in (
                span.context.trace_id, span.parent.span_id, span.context.span_id
            ))] for span in received.get_finished_spans()
        ]))
        """
    )
    assert [span[:3] for span in spans] == [
        [
            name,
            TRACE.trace_id.lstrip("0"),
            TRACE.span_id if name == "capture" else spans[-1][3],
        ]
        for name in ("validate", "build", "append", "capture")
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
    told = {"LLM_OBSERVATORY_URL": stuck_peer(trickle=trickle).url, "TELEMETRY_BUDGET_MS": str(DEFAULT_MS)}
    with start(script, **told) as process:
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
    told = {"LLM_OBSERVATORY_URL": stuck_peer(trickle=True).url, "TELEMETRY_BUDGET_MS": str(DEFAULT_MS)}
    ended = run("capture(Telemetry.from_env(os.environ)); print(1)", **told)
    assert ended == 1
    assert time.monotonic() - before < 10


def test_the_resource_attributes_of_the_process_name_the_service_where_nothing_else_does() -> None:
    done = run(
        """
        from agent.observability.otlp import resource_of
        resources = [resource_of(environ) for environ in ({}, {"OTEL_SERVICE_NAME": "b"})]
        print(json.dumps([resource.attributes["service.name"] for resource in resources]))
        """,
        OTEL_RESOURCE_ATTRIBUTES="service.name=a,team=memory",
    )
    assert done == ["a", "b"]
