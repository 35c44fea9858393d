"""Exports what a request says of itself before its answer goes out, inside a bound; leaves a failing collector alone.

After the answer a serverless instance has no CPU, so a background flush would send nothing. No exporter holds a total
deadline against a peer that trickles, so the export runs in a daemon thread and the request waits for it with a bound.
Spans of requests that come meanwhile go together in the next export. A thread that overran is abandoned; a few at
most are alive, and none of them holds up the end of the process. Metrics go after the spans, when they are due.
Of the two one may be taken and the other not: each is left alone for itself.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final, Protocol

from agent.observability.logs import log_event
from agent.observability.metrics_schedule import MetricsSchedule
from agent.observability.pause import PAUSE_S, Pause

EXPORT_THREAD: Final = "telemetry-export"
_MOST_ABANDONED: Final = 4
_CLOSING_S: Final = 1.0


class Exporter(Protocol):
    """What sends to a collector; used by one thread."""

    def export(self, spans: list[Any]) -> bool:
        """Send ``spans``; whether the collector took them."""

    def export_metrics(self) -> bool:
        """Send what all metrics come to now; whether the collector took them."""

    def shutdown(self) -> None:
        """Close the connection."""


class BoundedExport:
    """Sends by exporters that ``make_exporter`` makes.

    ``clock`` is monotonic seconds, ``bound_s`` how many seconds a request waits; ``metrics`` says whether there are
    any to send. ``dropped`` counts the spans that were not sent, or not known to be sent inside the bound.
    """

    def __init__(
        self,
        make_exporter: Callable[[], Exporter],
        *,
        clock: Callable[[], float],
        bound_s: float,
        metrics: bool = False,
    ) -> None:
        self._make_exporter = make_exporter
        self._pause = Pause(clock)
        self._schedule = MetricsSchedule(clock) if metrics else None
        self._bound_s = bound_s
        self._lock = threading.Lock()
        self._worker: _Worker | None = None
        self._abandoned: list[_Worker] = []
        self._closed = False
        self.dropped = 0

    def send(self, spans: Sequence[Any] = ()) -> None:
        """Export ``spans``, or drop and count them, and metrics if due; returns inside the bound, raises nothing."""
        with suppress(Exception):  # such as no thread to be had: it costs the spans, never the request
            handed = self._handed_over(spans)
            if handed is not None and not handed[1].settled.wait(self._bound_s):
                self._overran(*handed)

    def close(self) -> None:
        """Send metrics a last time and let the worker finish what it has; waits for the bound, a second at least."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            worker, self._worker = self._worker, None
        if worker is not None and worker.is_alive():
            if self._schedule is not None:
                worker.inbox.put(Handover((), with_metrics=True))
            worker.inbox.put(None)
            worker.join(max(_CLOSING_S, self._bound_s))

    def _handed_over(self, spans: Sequence[Any]) -> tuple[_Worker, Handover] | None:
        """What was put into the hands of the worker; None where there is nothing, or the collector is left alone."""
        with self._lock:
            self._abandoned = [worker for worker in self._abandoned if worker.is_alive()]
            has_room = not self._closed and len(self._abandoned) < _MOST_ABANDONED
            if spans and not (has_room and self._pause.admits()):
                self.dropped += len(spans)
                spans = ()
            with_metrics = has_room and self._schedule is not None and self._schedule.take()
            if not spans and not with_metrics:
                return None
            # A fork leaves the worker behind in the parent.
            if self._worker is None or not self._worker.is_alive():
                self._worker = _Worker(self._make_exporter, self._settled)
                self._worker.start()
            handover = Handover(spans, with_metrics=with_metrics)
            self._worker.inbox.put(handover)
            return self._worker, handover

    def _settled(
        self, worker: _Worker, batch: Sequence[Handover], *, sent: bool | None, metrics_sent: bool | None
    ) -> None:
        """Take note that an export of ``worker`` came to its end, and let its requests go on; None was not in it."""
        with self._lock:
            for handover in batch:
                handover.settled.set()
            if metrics_sent is not None and self._schedule is not None and not worker.abandoned:
                self._schedule.settled(sent=metrics_sent)
            if sent is None:
                return
            count = sum(len(handover.spans) for handover in batch if not handover.overran)
            if not worker.abandoned:
                self._count(sent=sent, count=count)
            elif not sent:
                self.dropped += count  # the failure was counted when the worker's time was over

    def _overran(self, worker: _Worker, handover: Handover) -> None:
        with self._lock:
            if handover.settled.is_set():
                return  # just in time
            handover.overran = True
            lost = 0 if handover.got_past_spans else len(handover.spans)
            if worker.abandoned:
                self.dropped += lost
                return
            worker.abandoned = True
            self._abandoned.append(worker)
            if self._worker is worker:
                self._worker = None
            if handover.with_metrics and handover.got_past_spans and self._schedule is not None:
                self._schedule.settled(sent=False)
            if handover.spans:
                self._count(sent=handover.got_past_spans, count=lost)

    def _count(self, *, sent: bool, count: int) -> None:
        if sent:
            if self._pause.succeeded():
                log_event("telemetry resumed", fields={"spans_dropped": self.dropped})
            return
        self.dropped += count
        if self._pause.failed():
            log_event(
                "telemetry paused: the collector does not take spans",
                level=logging.WARNING,
                fields={"spans_dropped": self.dropped, "pause_s": PAUSE_S},
            )


class Handover:
    """What one request hands over; ``settled`` when it was sent or lost, ``overran`` if that came late.

    ``got_past_spans``: those of its export were sent, or there were none, so that metrics are what it waits for.
    """

    def __init__(self, spans: Sequence[Any], *, with_metrics: bool = False) -> None:
        self.spans = spans
        self.with_metrics = with_metrics
        self.got_past_spans = False
        self.settled = threading.Event()
        self.overran = False


class _Worker(threading.Thread):
    """Exports what comes into ``inbox``, all that waits there at once, until it is abandoned or told None."""

    def __init__(self, make_exporter: Callable[[], Exporter], settled: Callable[..., None]) -> None:
        # A daemon: the end of the process does not wait for a collector.
        super().__init__(name=EXPORT_THREAD, daemon=True)
        self.inbox: SimpleQueue[Handover | None] = SimpleQueue()
        self.abandoned = False
        self._make_exporter = make_exporter
        self._settled = settled
        self._exporter: Exporter | None = None

    def run(self) -> None:
        while not self.abandoned and (batch := self._next_batch()):
            spans = [span for handover in batch for span in handover.spans]
            sent = self._sent(spans) if spans else None
            metrics_sent = None
            # Whoever does not take spans is not asked again in the same breath: both would be beyond the bound.
            if sent is not False:
                for handover in batch:
                    handover.got_past_spans = True
                if any(handover.with_metrics for handover in batch):
                    metrics_sent = self._metrics_sent()
            self._settled(self, batch, sent=sent, metrics_sent=metrics_sent)
        if self._exporter is not None:
            with suppress(Exception):
                self._exporter.shutdown()

    def _sent(self, spans: list[Any]) -> bool:
        with suppress(Exception):  # an exporter that cannot be made, or that raises, has not sent
            return self._exporter_made().export(spans)
        return False

    def _metrics_sent(self) -> bool:
        with suppress(Exception):
            return self._exporter_made().export_metrics()
        return False

    def _exporter_made(self) -> Exporter:
        self._exporter = self._exporter or self._make_exporter()
        return self._exporter

    def _next_batch(self) -> list[Handover]:
        """Take what waits, at least one; empty when there will be no more."""
        first = self.inbox.get()
        batch = [] if first is None else [first]
        while batch and not self.inbox.empty():
            following = self.inbox.get()
            if following is None:
                self.inbox.put(None)
                break
            batch.append(following)
        return batch
