"""Metrics ride on the export of a request, inside its bound, and once more at the end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from agent.observability.bounded_export import EXPORT_THREAD, BoundedExport
from tests.observability.conftest import Clock, RecordedLog

# Long enough for a thread to be woken on a busy machine, where the test waits for the export.
PATIENT_S = 20.0
SHORT_S = 0.05


class Metered:
    """An exporter that takes what ``takes`` says, and of which metrics hang while ``hold`` is set."""

    def __init__(self, *takes: str) -> None:
        self.takes = set(takes)
        self.exports: list[list[Any]] = []
        self.metrics = 0
        self.asked = threading.Event()
        self.hold = False
        self.let_go = threading.Event()
        self.closed = threading.Event()

    def export(self, spans: list[Any]) -> bool:
        self.exports.append(spans)
        return "spans" in self.takes

    def export_metrics(self) -> bool:
        self.metrics += 1
        self.asked.set()
        if self.hold:
            self.let_go.wait()
        return "metrics" in self.takes

    def shutdown(self) -> None:
        self.closed.set()


@pytest.fixture
def exporter() -> Iterator[Metered]:
    exporter = Metered("spans", "metrics")
    yield exporter
    exporter.let_go.set()
    for thread in threading.enumerate():
        if thread.name == EXPORT_THREAD:
            thread.join(PATIENT_S)


@pytest.fixture
def export(exporter: Metered, clock: Clock) -> Iterator[BoundedExport]:
    export = BoundedExport(lambda: exporter, clock=clock, bound_s=PATIENT_S, metrics=True)
    yield export
    exporter.let_go.set()
    export.close()


def test_metrics_go_after_the_spans_and_then_not_for_ten_seconds(
    exporter: Metered, export: BoundedExport, clock: Clock
) -> None:
    export.send(["a"])
    export.send(["b"])
    export.send()
    assert (exporter.exports, exporter.metrics) == ([["a"], ["b"]], 1)
    clock.now += 10.0
    export.send()
    assert (exporter.exports, exporter.metrics) == ([["a"], ["b"]], 2)


def test_an_export_without_metrics_has_nothing_to_send_but_spans(exporter: Metered, clock: Clock) -> None:
    export = BoundedExport(lambda: exporter, clock=clock, bound_s=PATIENT_S)
    export.send()
    export.send(["a"])
    export.close()
    assert (exporter.exports, exporter.metrics) == ([["a"]], 0)


def test_metrics_are_not_tried_where_spans_were_not_taken(exporter: Metered, export: BoundedExport) -> None:
    exporter.takes = {"metrics"}
    export.send(["a"])
    assert (exporter.metrics, export.dropped) == (0, 1)


def test_metrics_that_are_refused_alone_are_tried_every_thirty_seconds_and_cost_no_span(
    exporter: Metered, export: BoundedExport, clock: Clock, log: RecordedLog
) -> None:
    exporter.takes = {"spans"}
    for _ in range(20):
        export.send(["a"])
        clock.now += 10.0
    assert (len(exporter.exports), exporter.metrics, export.dropped) == (20, 7, 0)
    assert log.messages() == ["the collector does not take metrics"]


def test_metrics_alone_that_fail_are_no_reason_to_keep_spans_back(
    exporter: Metered, export: BoundedExport, clock: Clock, log: RecordedLog
) -> None:
    exporter.takes = {"spans"}
    for _ in range(4):
        export.send()
        clock.now += 31.0
    export.send(["a"])
    assert (exporter.exports, export.dropped) == ([["a"]], 0)
    assert log.messages() == ["the collector does not take metrics"]


def test_a_collector_that_takes_metrics_and_no_spans_gets_its_metrics_while_spans_are_left_alone(
    exporter: Metered, export: BoundedExport, clock: Clock, log: RecordedLog
) -> None:
    exporter.takes = {"metrics"}
    for _ in range(20):
        export.send(["a"])
        clock.now += 5.0
    # In 100 seconds: three at first, then one every half minute; all others were dropped at once. Metrics every ten
    # seconds, but not together with spans that are not taken.
    assert (len(exporter.exports), export.dropped, exporter.metrics) == (5, 20, 6)
    assert log.messages() == ["telemetry paused: the collector does not take spans"]


def test_metrics_that_hang_do_not_keep_back_the_spans_that_come_after_them(exporter: Metered, clock: Clock) -> None:
    exporter.hold = True
    export = BoundedExport(lambda: exporter, clock=clock, bound_s=2.0, metrics=True)
    for number in range(5):
        export.send([number])
    assert (exporter.exports, export.dropped, exporter.metrics) == ([[number] for number in range(5)], 0, 1)
    exporter.let_go.set()
    export.close()


def test_metrics_that_hang_cost_the_bound_and_no_span_that_was_sent(
    exporter: Metered, clock: Clock, log: RecordedLog
) -> None:
    exporter.hold = True
    export = BoundedExport(lambda: exporter, clock=clock, bound_s=2.0, metrics=True)
    export.send(["a"])
    assert exporter.asked.is_set()
    assert (exporter.exports, export.dropped) == ([["a"]], 0)
    assert log.messages() == ["the collector does not take metrics"]
    clock.now += 29.0
    export.send()
    assert exporter.metrics == 1


def test_closing_sends_metrics_a_last_time_though_they_are_not_due(exporter: Metered, export: BoundedExport) -> None:
    export.send(["a"])
    export.close()
    export.close()
    assert exporter.metrics == 2
    assert exporter.closed.is_set()


def test_closing_waits_for_no_metrics_that_hang(exporter: Metered, clock: Clock) -> None:
    export = BoundedExport(lambda: exporter, clock=clock, bound_s=2.0, metrics=True)
    export.send(["a"])
    exporter.hold = True
    export.close()
    assert (exporter.metrics, exporter.closed.is_set()) == (2, False)


def test_an_export_that_never_began_has_nothing_to_close(exporter: Metered, clock: Clock) -> None:
    BoundedExport(lambda: exporter, clock=clock, bound_s=PATIENT_S, metrics=True).close()
    assert exporter.metrics == 0
