"""The functions as real processes that send to one real OTLP receiver, and what they counted until they ended.

A function sends what it counted when it is asked to end, at the latest: so a ``Site`` is closed before it is read.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from prometheus_client.parser import text_string_to_metric_families
from werkzeug.serving import make_server

from agent.bootstrap import new_id, utc_now
from store.engines.sqlite import SqliteStore
from store.server import create_app
from tests.conftest import REPOSITORY
from tests.live.collector import METRICS_PATH, Collector
from tests.live.host import FunctionHost, function_host
from tests.live.stored import _Quiet
from tests.monitoring.prometheus_names import Samples, Series, samples_of

# One attempt and its retries against a store that is down: enough for the tests, and they need not wait for more.
DEADLINE_S = "1"
# What a busy machine needs to send the counts at the end.
PATIENT_MS = "5000"
# A port where nobody listens.
NOBODY = "http://127.0.0.1:9"


class Receiver(Collector):
    """Keeps exports of metrics whole, with their buckets."""

    def __init__(self) -> None:
        super().__init__()
        self.metrics: list[Any] = []

    def receive(self, path: str, body: bytes) -> None:
        super().receive(path, body)
        if path.endswith(METRICS_PATH):
            self.metrics.extend(ExportMetricsServiceRequest.FromString(body).resource_metrics)


class Site:
    """Some functions in ``folder`` that send to one collector. ``samples`` is what they had counted when they ended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.receiver = Receiver()
        self.figures: Samples = {}
        self._running = ExitStack()

    def __enter__(self) -> Self:
        self._running.callback(self.receiver.close)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def function(self, target: str, *, store: str, source: Path = REPOSITORY / "main.py", **env: str) -> FunctionHost:
        """A function of this target, until the end; it sends its telemetry to the receiver of the site."""
        environ = {"RUVECTOR_DEADLINE_S": DEADLINE_S, "TELEMETRY_BUDGET_MS": PATIENT_MS, **env}
        if not any(name.startswith("OTEL_EXPORTER") for name in env):
            environ["LLM_OBSERVATORY_URL"] = self.receiver.url
        return self._running.enter_context(
            function_host(
                self.folder, target=target, store=store, source=source, OTEL_SERVICE_NAME=SERVICES[target], **environ
            )
        )

    def store(self, database: str | None = None, **env: str) -> FunctionHost:
        """A store's own server, until the end; by default over a file of the folder."""
        environ = {"RUVECTOR_STORE": database or f"sqlite:///{self.folder}/{new_id()}.db", "THREADS": "24", **env}
        return self._running.enter_context(function_host(self.folder, target="store", store=NOBODY, **environ))

    def look_at(self, store: FunctionHost) -> None:
        """Keep what the store shows at /metrics now."""
        self.figures |= figures(store.url)

    def end(self) -> None:
        """Ask every process to end, the last first, and wait until it has."""
        self._running.close()

    @property
    def samples(self) -> Samples:
        return {**samples_of(self.receiver.metrics), **self.figures}


SERVICES = {
    "handler": "conversation-memory",
    "capture_event": "conversation-memory-events",
    "recall": "conversation-recall",
}


def figures(url: str) -> Samples:
    """What the store at ``url`` shows at /metrics, as Prometheus would keep it; not when its counters were made."""
    text = httpx.get(f"{url}/metrics", timeout=30).raise_for_status().text
    return {
        Series.of(sample.name, {**sample.labels, **target_of(url)}): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def target_of(url: str) -> dict[str, str]:
    """The labels that Prometheus gives to whatever it reads from the store at ``url``."""
    return {"job": "conversation-store", "instance": url.removeprefix("http://")}


@contextmanager
def slow_store(path: Path, *, delay_s: float) -> Iterator[str]:
    """The store in the file at ``path`` on loopback, which thinks so long before each answer; gives its URL."""
    store = SqliteStore(str(path))
    application = create_app(store, clock=utc_now, new_id=new_id)

    def slowly(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        time.sleep(delay_s)
        return application(environ, start_response)

    server = make_server("127.0.0.1", 0, slowly, threaded=True, request_handler=_Quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
        store.close()


@contextmanager
def locked(path: Path, *, hold_s: float) -> Iterator[None]:
    """Another writer holds the lock of the SQLite file for so long, from the beginning of the block on."""
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(hold_s, holder.rollback)
    timer.start()
    try:
        yield
    finally:
        timer.join()
        holder.close()
