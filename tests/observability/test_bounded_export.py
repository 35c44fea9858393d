"""An export costs a request a bounded wait, and a collector that fails is left alone for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.observability.bounded_export import EXPORT_THREAD, BoundedExport, Handover
from agent.observability.pause import Pause
from tests.observability.conftest import Clock, RecordedLog

PAUSED = "telemetry paused: the collector does not take spans"
# Long enough for a thread to be woken on a busy machine, where the test waits for the export.
PATIENT_S = 20.0
# Where it does not wait for the export, yet the export must have begun by then.
SHORT_S = 0.5


class FakeExporter:
    """An exporter that takes spans, or does what ``answer`` does instead."""

    def __init__(self, answer: Callable[[list[Any]], bool] = lambda spans: True) -> None:
        self.answer = answer
        self.exports: list[list[Any]] = []
        self.metrics = 0
        self.closed = threading.Event()

    def export(self, spans: list[Any]) -> bool:
        self.exports.append(spans)
        return self.answer(spans)

    def export_metrics(self) -> bool:
        self.metrics += 1
        return self.answer([])

    def shutdown(self) -> None:
        self.closed.set()


class Gate:
    """An answer that does not come before it is let through."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.opened = threading.Event()

    def __call__(self, spans: list[Any]) -> bool:
        self.entered.release()
        self.opened.wait()
        return True


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.opened.set()
    for thread in export_threads():
        thread.join(PATIENT_S)


@pytest.fixture
def closing() -> Iterator[Callable[[BoundedExport], BoundedExport]]:
    """Closes an export when the test is over."""
    exports: list[BoundedExport] = []

    def keep(export: BoundedExport) -> BoundedExport:
        exports.append(export)
        return export

    yield keep
    for export in exports:
        export.close()


def export_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == EXPORT_THREAD]


def refuse(spans: list[Any]) -> bool:
    return False


def fail(spans: list[Any]) -> bool:
    raise OSError("a text that nobody repeats")


def test_spans_are_sent_before_the_request_goes_on(closing: Any, clock: Clock) -> None:
    exporter = FakeExporter()
    export = closing(BoundedExport(lambda: exporter, clock=clock, bound_s=PATIENT_S))
    export.send(["a", "b"])
    assert exporter.exports == [["a", "b"]]
    export.send(["c"])
    assert exporter.exports == [["a", "b"], ["c"]]
    assert export.dropped == 0
    assert len(export_threads()) == 1
    assert all(thread.daemon for thread in export_threads())


@pytest.mark.parametrize("answer", [refuse, fail])
def test_after_three_failures_the_collector_is_left_alone_and_that_is_said_once(
    answer: Callable[[list[Any]], bool], closing: Any, clock: Clock, log: RecordedLog
) -> None:
    exporter = FakeExporter(answer)
    export = closing(BoundedExport(lambda: exporter, clock=clock, bound_s=PATIENT_S))
    for _ in range(5):
        export.send(["a", "b"])
    assert len(exporter.exports) == 3
    assert export.dropped == 10
    clock.now += 29.9
    export.send(["a"])
    assert len(exporter.exports) == 3
    # Half a minute later one tries; it fails, and the pause goes on without another word.
    clock.now += 0.2
    export.send(["a"])
    export.send(["a"])
    assert len(exporter.exports) == 4
    assert [(entry["severity"], entry["message"], entry["spans_dropped"]) for entry in log.entries()] == [
        ("WARNING", PAUSED, 6)
    ]
    assert "nobody repeats" not in log.text


def test_a_collector_that_works_again_is_used_again_and_that_is_said(
    closing: Any, clock: Clock, log: RecordedLog
) -> None:
    exporter = FakeExporter(refuse)
    export = closing(BoundedExport(lambda: exporter, clock=clock, bound_s=PATIENT_S))
    for _ in range(4):
        export.send(["a"])
    exporter.answer = lambda spans: True
    clock.now += 31
    export.send(["b"])
    export.send(["c"])
    assert exporter.exports[3:] == [["b"], ["c"]]
    assert [(entry["message"], entry["spans_dropped"]) for entry in log.entries()] == [
        (PAUSED, 3),
        ("telemetry resumed", 4),
    ]


def test_a_success_between_failures_begins_the_count_anew(closing: Any, clock: Clock, log: RecordedLog) -> None:
    exporter = FakeExporter()
    export = closing(BoundedExport(lambda: exporter, clock=clock, bound_s=PATIENT_S))
    for answer in (refuse, refuse, bool, refuse, refuse, bool):
        exporter.answer = answer
        export.send(["a"])
    assert len(exporter.exports) == 6
    assert log.messages() == []


def test_an_exporter_that_cannot_be_made_is_a_failure(closing: Any, clock: Clock, log: RecordedLog) -> None:
    def make() -> FakeExporter:
        raise RuntimeError("no certificate")

    export = closing(BoundedExport(make, clock=clock, bound_s=PATIENT_S))
    for _ in range(4):
        export.send(["a"])
    assert (export.dropped, log.messages()) == (4, [PAUSED])


def test_an_export_that_never_ends_costs_each_request_the_bound_and_then_nothing(
    gate: Gate, clock: Clock, log: RecordedLog
) -> None:
    exporters: list[FakeExporter] = []

    def make() -> FakeExporter:
        exporters.append(FakeExporter(gate))
        return exporters[-1]

    export = BoundedExport(make, clock=clock, bound_s=SHORT_S)
    for _ in range(3):
        before = time.monotonic()
        export.send(["a"])
        assert time.monotonic() - before >= SHORT_S
    assert (len(exporters), export.dropped, log.messages()) == (3, 3, [PAUSED])
    export.send(["a"])
    # After the pause one more thread tries; with four of them stuck, there is no fifth.
    clock.now += 31
    export.send(["a"])
    clock.now += 31
    export.send(["a"])
    assert (len(exporters), len(export_threads()), export.dropped) == (4, 4, 6)
    # They come to their end by themselves when the collector lets them, and then there is room again.
    gate.opened.set()
    assert all(exporter.closed.wait(PATIENT_S) for exporter in exporters)
    for thread in export_threads():
        thread.join(PATIENT_S)
    clock.now += 31
    export.send(["b"])
    assert exporters[4].exports == [["b"]]
    assert log.messages() == [PAUSED, "telemetry resumed"]
    export.close()


def test_what_comes_while_an_export_runs_goes_together_in_the_next(gate: Gate, closing: Any, clock: Clock) -> None:
    exporter = FakeExporter(gate)
    export = closing(BoundedExport(lambda: exporter, clock=clock, bound_s=PATIENT_S))
    requests = [threading.Thread(target=export.send, args=([number],)) for number in range(9)]
    requests[0].start()
    gate.entered.acquire()
    for request in requests[1:]:
        request.start()
    worker = export._worker
    assert worker is not None
    while worker.inbox.qsize() < 8:
        threading.Event().wait(0.001)
    gate.opened.set()
    for request in requests:
        request.join(PATIENT_S)
    assert exporter.exports[0] == [0]
    assert sorted(exporter.exports[1]) == list(range(1, 9))
    assert (len(exporter.exports), export.dropped) == (2, 0)


def test_requests_that_wait_for_the_same_stuck_export_count_as_one_failure(
    gate: Gate, clock: Clock, log: RecordedLog
) -> None:
    exporter = FakeExporter(gate)
    export = BoundedExport(lambda: exporter, clock=clock, bound_s=2.0)
    first = threading.Thread(target=export.send, args=(["a"],))
    first.start()
    gate.entered.acquire()
    others = [threading.Thread(target=export.send, args=(["b"],)) for _ in range(6)]
    for other in others:
        other.start()
    for request in (first, *others):
        request.join(PATIENT_S)
    assert (export.dropped, log.messages()) == (7, [])


def test_an_abandoned_export_that_fails_after_all_counts_what_nobody_has_counted(gate: Gate, clock: Clock) -> None:
    def answer(spans: list[Any]) -> bool:
        gate(spans)
        return False

    export = BoundedExport(lambda: FakeExporter(answer), clock=clock, bound_s=SHORT_S)
    export.send(["a"])
    assert export.dropped == 1
    gate.opened.set()
    for thread in export_threads():
        thread.join(PATIENT_S)
    assert export.dropped == 1


def test_an_export_that_ends_in_the_moment_its_time_is_over_is_no_failure(closing: Any, clock: Clock) -> None:
    export = closing(BoundedExport(FakeExporter, clock=clock, bound_s=PATIENT_S))
    export.send(["a"])
    worker = export._worker
    handover = Handover(["b"])
    handover.settled.set()
    export._overran(worker, handover)
    assert (export.dropped, export._worker, worker.abandoned) == (0, worker, False)


def test_a_request_that_still_waits_for_an_abandoned_export_is_counted_by_what_comes_of_it(
    closing: Any, clock: Clock
) -> None:
    export = closing(BoundedExport(FakeExporter, clock=clock, bound_s=PATIENT_S))
    export.send(["a"])
    worker = export._worker
    early, late = Handover(["b"]), Handover(["c", "d"])
    export._overran(worker, early)
    export._settled(worker, [early, late], sent=False, metrics_sent=None)
    assert export.dropped == 3
    assert late.settled.is_set()
    worker.inbox.put(None)


def test_an_export_that_comes_through_late_is_no_success_of_another_worker(gate: Gate, clock: Clock) -> None:
    export = BoundedExport(lambda: FakeExporter(gate), clock=clock, bound_s=SHORT_S)
    for _ in range(3):
        export.send(["a"])
    gate.opened.set()
    for thread in export_threads():
        thread.join(PATIENT_S)
    assert not export._pause.admits()


def test_closing_lets_the_exporter_go_and_later_spans_are_dropped(clock: Clock) -> None:
    exporter = FakeExporter()
    export = BoundedExport(lambda: exporter, clock=clock, bound_s=PATIENT_S)
    export.send(["a"])
    export.close()
    export.close()
    assert exporter.closed.is_set()
    export.send(["b"])
    assert (exporter.exports, export.dropped) == ([["a"]], 1)


def test_closing_in_the_middle_of_an_export_lets_what_waits_go_first(gate: Gate, clock: Clock) -> None:
    exporter = FakeExporter(gate)
    export = BoundedExport(lambda: exporter, clock=clock, bound_s=PATIENT_S)
    first = threading.Thread(target=export.send, args=(["a"],))
    first.start()
    gate.entered.acquire()
    worker = export._worker
    assert worker is not None
    second = threading.Thread(target=export.send, args=(["b"],))
    second.start()
    while worker.inbox.empty():
        threading.Event().wait(0.001)
    closer = threading.Thread(target=export.close)
    closer.start()
    while worker.inbox.qsize() < 2:
        threading.Event().wait(0.001)
    gate.opened.set()
    for thread in (first, second, closer, worker):
        thread.join(PATIENT_S)
    assert exporter.exports == [["a"], ["b"]]
    assert exporter.closed.is_set()


def test_an_exporter_that_cannot_be_closed_is_let_go_all_the_same(clock: Clock) -> None:
    class Stubborn(FakeExporter):
        def shutdown(self) -> None:
            super().shutdown()
            raise OSError("no")

    exporter = Stubborn()
    export = BoundedExport(lambda: exporter, clock=clock, bound_s=PATIENT_S)
    export.send(["a"])
    export.close()
    assert exporter.closed.is_set()
    assert export_threads() == []


def test_an_export_without_a_thread_to_be_had_raises_nothing(clock: Clock) -> None:
    class Unsized(list[Any]):
        def __len__(self) -> int:
            raise RuntimeError("can't start new thread")

    export = BoundedExport(FakeExporter, clock=clock, bound_s=PATIENT_S)
    export.send(Unsized(["a"]))
    assert export_threads() == []


steps = st.lists(st.tuples(st.floats(0, 40), st.booleans()), max_size=40)


@given(steps)
@settings(deadline=None, max_examples=200)
def test_a_pause_follows_three_failures_in_a_row_lasts_thirty_seconds_and_admits_one_at_a_time(
    steps: list[tuple[float, bool]],
) -> None:
    clock = Clock()
    pause = Pause(clock)
    row, last_failure = 0, 0.0
    for waited, works in steps:
        clock.now += waited
        admitted = pause.admits()
        assert admitted == (row < 3 or clock.now >= last_failure + 30.0)
        if admitted and row >= 3:
            assert not pause.admits()
        if admitted and works:
            assert pause.succeeded() == (row >= 3)
            row = 0
        elif admitted:
            row, last_failure = row + 1, clock.now
            assert pause.failed() == (row == 3)
