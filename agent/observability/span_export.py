"""Exports a request's spans before its answer goes out, inside a bound, and leaves a failing collector alone.

After the answer a serverless instance has no CPU, so a background flush would send nothing. No exporter holds a total
deadline against a peer that trickles, so the export runs in a daemon thread and the request waits for it with a bound.
Spans of requests that come meanwhile go together in the next export. A thread that overran is abandoned; a few at
most are alive, and none of them holds up the end of the process.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final, Protocol

from agent.observability.logs import log_event

# CONTRACT leaves the bound open; the case H08 allows a second over the baseline.
BOUND_S: Final = 0.5
EXPORT_THREAD: Final = "span-export"
_FAILURES_TO_PAUSE: Final = 3
_PAUSE_S: Final = 30.0
_MOST_ABANDONED: Final = 4
_CLOSING_S: Final = 1.0


class Exporter(Protocol):
    """What sends spans to a collector; used by one thread."""

    def export(self, spans: list[Any]) -> bool:
        """Send ``spans``; whether the collector took them."""

    def shutdown(self) -> None:
        """Close the connection."""


class Pause:
    """Decides when a failing collector is left alone: after 3 failures in a row, for 30 s, then one export tries."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._failures = 0
        self._until: float | None = None

    def admits(self) -> bool:
        """Whether an export may be tried now."""
        if self._until is None:
            return True
        if self._clock() < self._until:
            return False
        # One tries; the others wait for what comes of it.
        self._until = self._clock() + _PAUSE_S
        return True

    def succeeded(self) -> bool:
        """Whether this success ends a pause."""
        ended = self._until is not None
        self._failures, self._until = 0, None
        return ended

    def failed(self) -> bool:
        """Whether this failure begins a pause; one that goes on does not begin."""
        self._failures += 1
        if self._failures < _FAILURES_TO_PAUSE:
            return False
        begins = self._until is None
        self._until = self._clock() + _PAUSE_S
        return begins


class SpanExport:
    """Sends spans by exporters that ``make_exporter`` makes.

    ``clock`` is monotonic seconds, ``bound_s`` how many seconds a request waits. ``dropped`` counts the spans that
    were not sent, or not known to be sent inside the bound.
    """

    def __init__(
        self, make_exporter: Callable[[], Exporter], *, clock: Callable[[], float], bound_s: float = BOUND_S
    ) -> None:
        self._make_exporter = make_exporter
        self._pause = Pause(clock)
        self._bound_s = bound_s
        self._lock = threading.Lock()
        self._worker: _Worker | None = None
        self._abandoned: list[_Worker] = []
        self._closed = False
        self.dropped = 0

    def send(self, spans: Sequence[Any]) -> None:
        """Export ``spans``, or drop and count them; returns inside the bound and raises nothing."""
        with suppress(Exception):  # such as no thread to be had: it costs the spans, never the request
            worker = self._admitting(len(spans))
            if worker is not None:
                handover = Handover(spans)
                worker.inbox.put(handover)
                if not handover.settled.wait(self._bound_s):
                    self._overran(worker, handover)

    def close(self) -> None:
        """Let the worker finish what it has, for a second at most, and close its connection."""
        with self._lock:
            self._closed = True
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.inbox.put(None)
            worker.join(_CLOSING_S)

    def _admitting(self, count: int) -> _Worker | None:
        with self._lock:
            self._abandoned = [worker for worker in self._abandoned if worker.is_alive()]
            if self._closed or len(self._abandoned) >= _MOST_ABANDONED or not self._pause.admits():
                self.dropped += count
                return None
            # A fork leaves the worker behind in the parent.
            if self._worker is None or not self._worker.is_alive():
                self._worker = _Worker(self._make_exporter, self._settled)
                self._worker.start()
            return self._worker

    def _settled(self, worker: _Worker, batch: Sequence[Handover], *, sent: bool) -> None:
        """Take note that an export of ``worker`` came to its end, and let its requests go on."""
        with self._lock:
            for handover in batch:
                handover.settled.set()
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
            if worker.abandoned:
                self.dropped += len(handover.spans)
                return
            worker.abandoned = True
            self._abandoned.append(worker)
            self._worker = None
            self._count(sent=False, count=len(handover.spans))

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
                fields={"spans_dropped": self.dropped, "pause_s": _PAUSE_S},
            )


class Handover:
    """The spans of one request on their way; ``settled`` when they were sent or lost, ``overran`` if that came late."""

    def __init__(self, spans: Sequence[Any]) -> None:
        self.spans = spans
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

    def run(self) -> None:
        exporter: Exporter | None = None
        while not self.abandoned and (batch := self._next_batch()):
            spans = [span for handover in batch for span in handover.spans]
            sent = False
            with suppress(Exception):  # an exporter that cannot be made, or that raises, has not sent
                exporter = exporter or self._make_exporter()
                sent = exporter.export(spans)
            self._settled(self, batch, sent=sent)
        if exporter is not None:
            with suppress(Exception):
                exporter.shutdown()

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
