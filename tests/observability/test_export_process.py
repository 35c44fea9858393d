"""What is there before a first request, what a fork takes along, and what the end of a process may still do."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from agent.observability.budget import DEFAULT_MS
from tests.live.collector import Point
from tests.observability.peers import SpanCollector, StuckPeer, refusing_url
from tests.observability.processes import ended, run

pytestmark = pytest.mark.slow

CAPTURES = "conversation_memory.captures"


def counts(collector: SpanCollector) -> dict[str, float]:
    """What each instance has counted at last."""
    found: dict[str, float] = {}
    for point in collector.points():
        if point.name == CAPTURES:
            found[instance(point)] = point.value
    return found


def instance(point: Point) -> str:
    return str(point.resource["service.instance.id"])


LOADED = """
before = set(sys.modules)
telemetry = {kind}.from_env(os.environ)
at_start = set(sys.modules)
import threading
print(json.dumps([threading.active_count(), sorted(at_start - before)]))
"""


def loaded_at_start(kind: str, **environ: str) -> tuple[int, set[str]]:
    """The threads, and the modules that a start adds."""
    script = "from agent.observability.recall_telemetry import RecallTelemetry\n" + LOADED.format(kind=kind)
    threads, modules = run(script, **environ)
    return threads, set(modules)


@pytest.mark.parametrize("kind", ["Telemetry", "RecallTelemetry"])
def test_where_a_collector_is_named_a_start_loads_all_that_the_first_request_needs_and_begins_nothing(
    kind: str, collector: SpanCollector
) -> None:
    threads, modules = loaded_at_start(kind, LLM_OBSERVATORY_URL=collector.url)
    assert threads == 1
    assert {"opentelemetry.sdk.trace", "opentelemetry.sdk.metrics", "agent.observability.otlp", "requests"} <= modules
    more = run(
        """
        telemetry = Telemetry.from_env(os.environ)
        before = set(sys.modules)
        capture(telemetry)
        print(json.dumps(sorted(set(sys.modules) - before)))
        """,
        LLM_OBSERVATORY_URL=collector.url,
    )
    # What is left are the codecs and the like of a first connection.
    assert [name for name in more if name.startswith(("opentelemetry", "google", "requests", "urllib3", "agent"))] == []
    assert len(collector.spans()) == 4


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"LLM_OBSERVATORY_URL": refusing_url(), "OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": refusing_url(), "OTEL_SDK_DISABLED": "true"},
    ],
    ids=["no collector", "both signals off", "the SDK off"],
)
@pytest.mark.parametrize("kind", ["Telemetry", "RecallTelemetry"])
def test_where_no_collector_is_asked_a_start_loads_nothing(kind: str, environ: dict[str, str]) -> None:
    _, modules = loaded_at_start(kind, **environ)
    assert {name for name in modules if name.startswith(("opentelemetry", "requests", "google"))} == set()


def test_where_a_host_sends_what_we_tell_a_start_loads_no_exporter() -> None:
    modules = run(
        """
        from opentelemetry import metrics, trace
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.trace import TracerProvider
        trace.set_tracer_provider(TracerProvider())
        metrics.set_meter_provider(MeterProvider())
        Telemetry.from_env(os.environ)
        print(json.dumps([name for name in sys.modules if name.startswith("opentelemetry.exporter")]))
        """,
        OTEL_EXPORTER_OTLP_ENDPOINT=refusing_url(),
    )
    assert modules == []


def test_an_sdk_that_is_not_installed_costs_no_start_and_no_capture() -> None:
    done = ended(
        """
        from agent.observability import configure_logging
        configure_logging(sys.stderr, level="INFO")
        sys.modules["opentelemetry.sdk.trace"] = None
        telemetry = Telemetry.from_env(os.environ)
        capture(telemetry)
        capture(telemetry)
        """,
        LLM_OBSERVATORY_URL=refusing_url(),
    )
    assert done.errors.count('"message":"telemetry unavailable"') == 1
    assert done.errors.count('"message":"capture acknowledged"') == 2


def test_a_fork_counts_for_itself_though_it_came_in_the_middle_of_everything(collector: SpanCollector) -> None:
    run(
        """
        telemetry = Telemetry.from_env(os.environ)
        for _ in range(3):
            capture(telemetry)
        # As if another thread were at work in the moment of the fork.
        own = telemetry._destinations._own
        telemetry._destinations._lock.acquire()
        own.export._lock.acquire()
        child = os.fork()
        if child:
            own.export._lock.release()
            telemetry._destinations._lock.release()
            _, status = os.waitpid(child, 0)
            assert status == 0, status
        else:
            capture(telemetry)
            sys.exit(0)
        capture(telemetry)
        print(json.dumps(None))
        """,
        LLM_OBSERVATORY_URL=collector.url,
    )
    assert sorted(counts(collector).values()) == [1, 4]
    assert len(collector.spans()) == 5 * 4


def test_a_fork_that_tells_nothing_sends_nothing_of_its_parents_again(collector: SpanCollector) -> None:
    run(
        """
        telemetry = Telemetry.from_env(os.environ)
        capture(telemetry)
        if os.fork():
            os.wait()
            print(json.dumps(None))
        """,
        LLM_OBSERVATORY_URL=collector.url,
    )
    assert list(counts(collector).values()) == [1]
    assert len(collector.metrics) == 2  # with the request, and at the end of the parent


def test_the_last_counts_are_sent_though_no_thread_can_be_begun_any_more(collector: SpanCollector) -> None:
    # Python 3.12 and later: "can't create new thread at interpreter shutdown".
    run(
        """
        import atexit, threading
        telemetry = Telemetry.from_env(os.environ)
        capture(telemetry)
        capture(telemetry)
        def begin_no_thread(thread):
            raise RuntimeError("can't create new thread at interpreter shutdown")
        # Called first: what is registered last is.
        atexit.register(setattr, threading.Thread, "start", begin_no_thread)
        print(json.dumps(None))
        """,
        LLM_OBSERVATORY_URL=collector.url,
    )
    assert list(counts(collector).values()) == [2]


def test_a_signal_that_comes_while_the_last_counts_are_sent_ends_the_process_all_the_same(
    stuck_peer: Callable[..., StuckPeer],
) -> None:
    before = time.monotonic()
    ended(
        """
        import signal, threading
        def leave(*_):
            sys.exit(0)
        signal.signal(signal.SIGTERM, leave)
        telemetry = Telemetry.from_env(os.environ)
        capture(telemetry)
        for wait in (0.1, 0.2):
            timer = threading.Timer(wait, os.kill, (os.getpid(), signal.SIGTERM))
            timer.daemon = True
            timer.start()
        threading.Event().wait(30)
        """,
        LLM_OBSERVATORY_URL=stuck_peer().url,
        TELEMETRY_BUDGET_MS=str(DEFAULT_MS),
    )
    assert time.monotonic() - before < 15


def test_a_dead_collector_takes_no_memory_however_many_requests_there_are() -> None:
    grown = run(
        """
        import gc, logging, tracemalloc
        logging.disable()
        telemetry = Telemetry.from_env(os.environ)
        def many(count):
            for _ in range(count):
                capture(telemetry)
            gc.collect()
            return tracemalloc.get_traced_memory()[0]
        tracemalloc.start()
        before = many(500)
        print(json.dumps(many(5000) - before))
        """,
        LLM_OBSERVATORY_URL=refusing_url(),
    )
    # Measured over 20 000: 2 KB. One attribute kept of each capture would be ten times as much as is allowed here.
    assert grown < 50_000
