"""Each metric of the table arrives with its labels, and no other metric and no other label does."""

from __future__ import annotations

import re
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent.core.receipt import TurnCounts
from agent.errors import (
    IdempotencyConflict,
    InternalError,
    MethodNotAllowed,
    NotFound,
    RateLimitExceeded,
    StoreConnectionError,
    StoreNotFound,
    StoreWriteError,
    ValidationError,
)
from agent.observability.metric_table import ERROR_CODE, METRICS, ROUTE
from agent.observability.recall_telemetry import RecallTelemetry
from agent.observability.telemetry import RequestTelemetry, Telemetry, Trigger
from agent.recall.http.routing import FIXED, OF_A_SESSION, OPEN
from tests.live.collector import Point
from tests.observability.conftest import Clock, RecordedLog, destinations_for
from tests.observability.peers import SpanCollector

REF = "3f0c9a1e-0000-4000-8000-000000000001"
POST = {"REQUEST_METHOD": "POST"}
SCOPE = "conversation_memory"
CODES = {
    "VALIDATION_ERROR", "RUVECTOR_CONNECTION_ERROR", "RUVECTOR_WRITE_ERROR", "RATE_LIMIT_EXCEEDED", "INTERNAL_ERROR",
}  # fmt: skip
COUNTS = TurnCounts(new=3, known=2, revised=1, erased=0)

Started = Callable[..., Any]


@pytest.fixture
def started(collector: SpanCollector, clock: Clock) -> Iterator[Started]:
    """Starts a function's telemetry, whose last metrics are sent when the test asks for ``points``."""
    made: list[Any] = []

    def start(trigger: Trigger | None = "http", **environ: str) -> Any:
        destinations = destinations_for({"LLM_OBSERVATORY_URL": collector.url, **environ}, clock, {})
        made.append(
            RecallTelemetry(destinations, name="recall", project=None, clock=clock)
            if trigger is None
            else Telemetry(destinations, trigger=trigger, project=None, clock=clock)
        )
        return made[-1]

    yield start
    for telemetry in made:
        telemetry.close()


def captured(request: RequestTelemetry, **more: Any) -> None:
    request.captured(
        **{"execution_ref": REF, "duplicate": False, "turns": 3, "received_bytes": 2000, "latency_ms": 40, **more}
    )
    request.end()


def refused(request: Any, error: Any) -> None:
    request.failed(error)
    request.end()


def last(collector: SpanCollector) -> dict[str, dict[tuple[tuple[str, Any], ...], Point]]:
    """By name and labels, what each series came to at last."""
    series: dict[str, dict[tuple[tuple[str, Any], ...], Point]] = defaultdict(dict)
    for point in collector.points():
        series[point.name][tuple(sorted(point.attributes.items()))] = point
    return series


def values(collector: SpanCollector, name: str) -> dict[tuple[str, ...], float]:
    """What each series of ``name`` came to, by the values of its labels in the order of their names."""
    return {
        tuple(said for _, said in labels): each.value for labels, each in last(collector)[f"{SCOPE}.{name}"].items()
    }


def everything(started: Started, clock: Clock) -> None:
    """Every outcome of every function once."""
    http, event, recall = started("http"), started("event"), started(None)
    for telemetry in (http, event):
        captured(telemetry.begin(POST, REF), counts=COUNTS, attempts=3)
        captured(telemetry.begin(POST, REF), duplicate=True, counts=TurnCounts(0, 3, 0, 2))
        refused(telemetry.begin(POST, REF), ValidationError("no"))
        failing = telemetry.begin(POST, REF)
        failing.delivered(age_s=12.5, attempt=2)
        with failing.spans.span("append"):
            clock.now += 7.0
        refused(failing, StoreConnectionError("no", details={"attempts": 4}))
    for name in sorted({*FIXED.values(), *OF_A_SESSION.values()}):
        for said in (None, StoreNotFound("no"), InternalError("no")):
            request = recall.begin({"REQUEST_METHOD": "GET"}, REF)
            request.operating(name, is_open=name in OPEN)
            if said is None:
                request.answered(200)
                request.end()
            else:
                refused(request, said)
    for telemetry in (http, event, recall):
        telemetry.close()


def test_the_receiver_gets_the_metrics_of_the_table_with_their_labels_and_no_others(
    started: Started, collector: SpanCollector, clock: Clock
) -> None:
    everything(started, clock)
    series = last(collector)
    assert set(series) == {metric.name for metric in METRICS}
    for metric in METRICS:
        seen: dict[str, set[str]] = defaultdict(set)
        for labels, point in series[metric.name].items():
            assert (point.unit, point.bounds) == (metric.unit, metric.buckets)
            for name, said in labels:
                seen[name].add(said)
        allowed = {name: _allowed(told) for name, told in metric.labels.items()}
        assert set(seen) == set(allowed), metric.name
        for name, told in seen.items():
            assert told <= allowed[name], (metric.name, name)
            if name != "error.type":
                assert told == allowed[name], (metric.name, name)


def _allowed(told: tuple[str, ...]) -> set[str]:
    if told == (ERROR_CODE,):
        return CODES
    return {*FIXED.values(), *OF_A_SESSION.values()} - OPEN if told == (ROUTE,) else set(told)


def test_captures_are_counted_by_what_came_of_them(started: Started, collector: SpanCollector, clock: Clock) -> None:
    telemetry = started("http")
    captured(telemetry.begin(POST, REF))
    captured(telemetry.begin(POST, REF), duplicate=True)
    outcomes = [
        (ValidationError("no"), "refused"),
        (IdempotencyConflict("no"), "refused"),
        (RateLimitExceeded("later"), "failed"),
        (StoreWriteError("no", upstream_status=400), "failed"),
        (InternalError("no"), "failed"),
    ]
    for error, _ in outcomes:
        clock.now += 0.25
        refused(telemetry.begin(POST, REF), error)
    telemetry.close()
    assert values(collector, "captures") == {
        ("captured", "http"): 1,
        ("duplicate", "http"): 1,
        ("VALIDATION_ERROR", "refused", "http"): 2,
        ("RATE_LIMIT_EXCEEDED", "failed", "http"): 1,
        ("RUVECTOR_WRITE_ERROR", "failed", "http"): 1,
        ("INTERNAL_ERROR", "failed", "http"): 1,
    }
    durations = values(collector, "capture.duration")
    assert durations == {
        ("captured", "http"): 1,
        ("duplicate", "http"): 1,
        ("refused", "http"): 2,
        ("failed", "http"): 3,
    }


@pytest.mark.parametrize(
    ("method", "error"),
    [
        ("POST", NotFound("no")),
        ("POST", MethodNotAllowed("no")),
        ("GET", InternalError("no")),
        (None, ValidationError("no")),
    ],
)
def test_what_is_no_capture_is_not_counted(
    method: str | None, error: Any, started: Started, collector: SpanCollector
) -> None:
    telemetry = started("http")
    refused(telemetry.begin({} if method is None else {"REQUEST_METHOD": method}, REF), error)
    captured(telemetry.begin(POST, REF))
    telemetry.close()
    assert values(collector, "captures") == {("captured", "http"): 1}
    assert {span.name for span in collector.spans()} <= {"capture"}


def test_an_append_is_timed_as_a_whole_and_its_repeats_are_counted(
    started: Started, collector: SpanCollector, clock: Clock
) -> None:
    telemetry = started("http")
    captured(telemetry.begin(POST, REF), latency_ms=1500, attempts=3, counts=COUNTS)
    request = telemetry.begin(POST, REF)
    clock.now += 1.0
    with request.spans.span("append"):
        clock.now += 20.0
    refused(request, StoreConnectionError("no", details={"attempts": 4}))
    conflict = telemetry.begin(POST, REF)
    with conflict.spans.span("append"):
        clock.now += 0.5
    refused(conflict, IdempotencyConflict("no"))
    refused(telemetry.begin(POST, REF), ValidationError("no"))
    telemetry.close()
    durations = {
        labels: (point.value, point.sum) for labels, point in last(collector)[f"{SCOPE}.store.duration"].items()
    }
    assert durations == {(("outcome", "ok"),): (2, 2.0), (("outcome", "failed"),): (1, 20.0)}
    assert values(collector, "store.retries") == {(): 5}
    assert values(collector, "turns") == {("new",): 3, ("known",): 2, ("revised",): 1}


@pytest.mark.parametrize(
    ("age_s", "attempt", "ages", "again"),
    [(2.0, 1, (1, 2.0), 0), (90.0, 5, (1, 90.0), 1), (-3.0, None, (1, 0.0), 0), (None, 2, (0, 0.0), 1)],
)
def test_an_event_tells_how_long_it_waited_and_whether_it_came_before(
    age_s: float | None,
    attempt: int | None,
    ages: tuple[int, float],
    again: int,
    started: Started,
    collector: SpanCollector,
) -> None:
    telemetry = started("event")
    request = telemetry.begin(POST, REF)
    request.delivered(age_s=age_s, attempt=attempt)
    captured(request)
    telemetry.close()
    seen = last(collector)[f"{SCOPE}.event.age"].get(())
    assert ((0, 0.0) if seen is None else (seen.value, seen.sum)) == ages
    assert sum(values(collector, "event.redeliveries").values()) == again
    assert values(collector, "captures") == {("captured", "event"): 1}


def test_metrics_go_out_with_the_first_request_and_then_ten_seconds_later_as_sums_that_go_on(
    started: Started, collector: SpanCollector, clock: Clock
) -> None:
    telemetry = started("http")
    for seconds, exports in ((0.0, 1), (9.9, 1), (0.2, 2), (0.0, 2), (30.0, 3)):
        clock.now += seconds
        captured(telemetry.begin(POST, REF))
        assert len(collector.metrics) == exports
    points = [point for point in collector.points() if point.name == f"{SCOPE}.captures"]
    assert [point.value for point in points] == [1, 3, 5]
    assert all(point.cumulative for point in points)
    (instance,) = {point.resource["service.instance.id"] for point in points}
    assert uuid.UUID(instance)


def test_the_resource_names_the_service_the_instance_and_what_the_platform_calls_them(
    started: Started, collector: SpanCollector
) -> None:
    telemetry = started("http", K_SERVICE="conversation-memory", K_REVISION="conversation-memory-00007")
    captured(telemetry.begin(POST, REF))
    resource = collector.points()[0].resource
    assert resource["service.name"] == "conversation-memory-agent"
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", resource["service.version"])
    assert resource["faas.name"] == "conversation-memory"
    assert resource["faas.version"] == "conversation-memory-00007"


def test_who_asks_for_what_came_since_the_last_time_gets_that(
    started: Started, collector: SpanCollector, clock: Clock
) -> None:
    telemetry = started("http", OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE="delta")
    for _ in range(3):
        captured(telemetry.begin(POST, REF))
        clock.now += 6.0
    telemetry.close()
    points = [point for point in collector.points() if point.name == f"{SCOPE}.captures"]
    assert ([point.value for point in points], [point.cumulative for point in points]) == ([1, 2], [False, False])


def test_an_observatory_that_takes_spans_alone_gets_them_and_that_is_said_once(
    started: Started, collector: SpanCollector, clock: Clock, log: RecordedLog
) -> None:
    collector.metrics_status = 404
    telemetry = started("http")
    for _ in range(8):
        captured(telemetry.begin(POST, REF))
        clock.now += 11.0
    assert (len(collector.spans()), len(collector.metrics)) == (8, 3)
    collector.metrics_status = None
    clock.now += 31.0
    captured(telemetry.begin(POST, REF))
    said = [message for message in log.messages() if "metrics" in message]
    assert said == ["the collector does not take metrics", "the collector takes metrics again"]
    assert values(collector, "captures") == {("captured", "http"): 9}


@pytest.mark.parametrize(
    ("switch", "spans", "exports"), [("OTEL_METRICS_EXPORTER", 1, 0), ("OTEL_TRACES_EXPORTER", 0, 1)]
)
def test_one_of_the_two_is_sent_without_the_other(
    switch: str, spans: int, exports: int, started: Started, collector: SpanCollector
) -> None:
    telemetry = started("http", **{switch: "none"})
    captured(telemetry.begin(POST, REF))
    assert (len(collector.spans()), len(collector.metrics)) == (spans, exports)


def test_spans_that_were_not_sent_are_counted_in_what_is(
    started: Started, collector: SpanCollector, clock: Clock, log: RecordedLog
) -> None:
    collector.status = 500
    telemetry = started("http")
    for _ in range(5):
        captured(telemetry.begin(POST, REF))
    collector.status = 200
    clock.now += 31.0
    captured(telemetry.begin(POST, REF))
    telemetry.close()
    assert values(collector, "telemetry.dropped") == {(): 5}
    assert "telemetry resumed" in log.messages()
