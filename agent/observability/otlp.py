"""The one module that imports the OpenTelemetry SDK and its OTLP exporters; imported itself only where we export.

Measured of opentelemetry-exporter-otlp-proto-http 1.45.2: its timeout bounds each connect and each read, not the
export: a peer that trickles holds it for as long as it likes. It reads an answer of any size, takes a redirect, which
it does not follow, for a success, and sleeps before it tries again. The sessions made here end the last three;
``bounded_export`` bounds the first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import Counter, Histogram, MeterProvider, ObservableCounter
from opentelemetry.sdk.metrics.export import AggregationTemporality, InMemoryMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider

from agent import __version__
from agent.config import is_loopback
from agent.core.agent_identity import AGENT_ID
from agent.observability.bounded_export import EXPORT_THREAD, Exporter
from agent.observability.collector import Collector

# Of the bound of a request, so that a collector that never answers is seen by the exporter itself.
_OF_THE_BOUND: Final = 0.8
_LONGEST_ANSWER: Final = 64 * 1024
# Semantic conventions, "FaaS": what Cloud Run says of itself in the environment.
_OF_THE_PLATFORM: Final = {"faas.name": "K_SERVICE", "faas.version": "K_REVISION"}
_TEMPORALITY: Final = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
_DELTA: Final = {"delta": (Counter, Histogram, ObservableCounter), "lowmemory": (Counter, Histogram)}
_THEIR_LOGGERS: Final = (
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.exporter.otlp.proto.http.metric_exporter",
    "urllib3.connectionpool",
)


def resource_of(environ: Mapping[str, str]) -> Resource:
    """Say who sends. ``service.name`` is OTEL_SERVICE_NAME, else what OTEL_RESOURCE_ATTRIBUTES says, else our id.

    The SDK adds a ``service.instance.id`` of this process: its sums and those of its siblings are not one sum.
    """
    detected = Resource.create()
    given = str(detected.attributes.get(SERVICE_NAME, "unknown_service"))
    default = AGENT_ID if given.startswith("unknown_service") else given
    name = environ.get("OTEL_SERVICE_NAME", "").strip() or default
    platform = {attribute: environ.get(variable, "").strip() for attribute, variable in _OF_THE_PLATFORM.items()}
    return detected.merge(
        Resource(
            {
                SERVICE_NAME: name,
                SERVICE_VERSION: __version__,
                **{attribute: value for attribute, value in platform.items() if value},
            }
        )
    )


def tracer_provider(resource: Resource) -> TracerProvider:
    """Make a provider of our own, set nowhere.

    It samples as OTEL_TRACES_SAMPLER of the process says, by default as the parent was sampled.
    """
    # Nothing is buffered in it, so nothing is to be flushed at exit: a flush could hang there.
    return TracerProvider(resource=resource, shutdown_on_exit=False)


def metric_reader(environ: Mapping[str, str]) -> InMemoryMetricReader:
    """Make a reader that is asked: no thread of its own sends anything.

    Sums are since the process began, unless the standard variable asks for what came since the last time.
    """
    as_deltas = _DELTA.get(environ.get(_TEMPORALITY, "").strip().lower(), ())
    return InMemoryMetricReader(preferred_temporality=dict.fromkeys(as_deltas, AggregationTemporality.DELTA))


def meter_provider(resource: Resource, reader: InMemoryMetricReader) -> MeterProvider:
    """Make a provider of our own that ``reader`` reads, set nowhere."""
    return MeterProvider(metric_readers=[reader], resource=resource, shutdown_on_exit=False)


def exporter_to(collector: Collector, *, reader: InMemoryMetricReader | None, bound_s: float) -> Callable[[], Exporter]:
    """Return what makes exporters that post to ``collector``, each with connections of its own.

    Headers, certificates and compression are those that the standard OTEL_EXPORTER_OTLP_* variables of the process say.
    """
    for name in _THEIR_LOGGERS:
        logging.getLogger(name).addFilter(_not_of_our_export)
    return lambda: _Exporter(collector, reader, bound_s * _OF_THE_BOUND)


class _Exporter:
    def __init__(self, collector: Collector, reader: InMemoryMetricReader | None, timeout_s: float) -> None:
        self._reader = reader
        self._spans = self._metrics = None
        if collector.traces is not None:
            session = _session()
            self._spans = OTLPSpanExporter(endpoint=collector.traces, timeout=timeout_s, session=session)
            _settle_environment(session, collector.traces)
        if collector.metrics is not None:
            session = _session()
            self._metrics = OTLPMetricExporter(endpoint=collector.metrics, timeout=timeout_s, session=session)
            _settle_environment(session, collector.metrics)

    def export(self, spans: list[Any]) -> bool:
        return self._spans is not None and self._spans.export(spans).name == "SUCCESS"

    def export_metrics(self) -> bool:
        if self._metrics is None or self._reader is None:
            return False
        points = self._reader.get_metrics_data()
        return points is None or self._metrics.export(points).name == "SUCCESS"

    def shutdown(self) -> None:
        if self._spans is not None:
            self._spans.shutdown()  # type: ignore[no-untyped-call]  # the SDK leaves it without annotations
        if self._metrics is not None:
            self._metrics.shutdown()


def _session() -> requests.Session:
    session = requests.Session()
    session.hooks["response"].append(_settle)
    return session


def _settle_environment(session: requests.Session, url: str) -> None:
    """Read the proxies and certificates of the environment now, once: each request would look for them again.

    After the exporter was made, which writes its own into the session. A netrc file is not looked for at all. No proxy
    is asked for a collector on loopback: to a proxy that address is the proxy's own machine.
    """
    settings = session.merge_environment_settings(url, {}, None, session.verify, session.cert)
    session.proxies = {} if is_loopback(urlsplit(url)) else settings["proxies"]
    session.verify = settings["verify"]
    session.trust_env = False


def _settle(response: requests.Response, *_: object, **__: object) -> None:
    """Read what the collector answered, 64 KiB at most, before the exporter reads all; refuse what is no success."""
    length = len(response.raw.read(_LONGEST_ANSWER))
    if length == _LONGEST_ANSWER:
        response.close()  # what is left is not read, and the connection not used again
    if response.status_code >= 300:
        # Of a kind that the exporter does not try again: a request waits for it.
        raise requests.exceptions.InvalidURL("the collector does not take it")


def _not_of_our_export(record: logging.LogRecord) -> bool:
    """Drop what an exporter logs of our exports: it repeats the collector's text (CONTRACT 7), line after line."""
    return record.threadName != EXPORT_THREAD
