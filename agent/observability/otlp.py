"""The one module that imports the OpenTelemetry SDK and its OTLP exporter; itself imported where spans are exported.

Measured of opentelemetry-exporter-otlp-proto-http 1.45.2: its timeout bounds each connect and each read, not the
export: a peer that trickles holds it for as long as it likes. It reads an answer of any size, and takes a redirect,
which it does not follow, for a success. The session made here ends the last two; ``span_export`` bounds the first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider

from agent import __version__
from agent.core.decision import AGENT_ID
from agent.observability.span_export import EXPORT_THREAD, Exporter

# Below the bound of a request, so that a collector that never answers is seen by the exporter itself; and below the
# exporter's first back-off of 0.8 s, so that it never sleeps and tries again.
TIMEOUT_S: Final = 0.4
_LONGEST_ANSWER: Final = 64 * 1024
_THEIR_LOGGERS: Final = ("opentelemetry.exporter.otlp.proto.http.trace_exporter", "urllib3.connectionpool")


def tracer_provider(environ: Mapping[str, str]) -> TracerProvider:
    """Make a provider of our own, set nowhere.

    It samples as OTEL_TRACES_SAMPLER of the process says, by default as the parent was sampled. ``service.name`` is
    OTEL_SERVICE_NAME, else what OTEL_RESOURCE_ATTRIBUTES says, else the agent's id.
    """
    detected = Resource.create()
    given = str(detected.attributes.get(SERVICE_NAME, "unknown_service"))
    default = AGENT_ID if given.startswith("unknown_service") else given
    name = environ.get("OTEL_SERVICE_NAME", "").strip() or default
    resource = detected.merge(Resource({SERVICE_NAME: name, SERVICE_VERSION: __version__}))
    # Nothing is buffered in it, so nothing is to be flushed at exit: a flush could hang there.
    return TracerProvider(resource=resource, shutdown_on_exit=False)


def exporter_to(url: str) -> Callable[[], Exporter]:
    """Return what makes exporters that post to ``url``, each with a connection of its own.

    Headers, certificates and compression are those that the standard OTEL_EXPORTER_OTLP_* variables of the process say.
    """
    for name in _THEIR_LOGGERS:
        logging.getLogger(name).addFilter(_not_of_our_export)
    return lambda: _Exporter(url)


class _Exporter:
    def __init__(self, url: str) -> None:
        session = requests.Session()
        session.hooks["response"].append(_settle)
        self._exporter = OTLPSpanExporter(endpoint=url, timeout=TIMEOUT_S, session=session)

    def export(self, spans: list[Any]) -> bool:
        return self._exporter.export(spans).name == "SUCCESS"

    def shutdown(self) -> None:
        self._exporter.shutdown()  # type: ignore[no-untyped-call]  # the SDK leaves it without annotations


def _settle(response: requests.Response, *_: object, **__: object) -> None:
    """Read what the collector answered, 64 KiB at most, before the exporter reads all of it; refuse a redirect."""
    length = len(response.raw.read(_LONGEST_ANSWER))
    if length == _LONGEST_ANSWER:
        response.close()  # what is left is not read, and the connection not used again
    if 300 <= response.status_code < 400:
        raise requests.exceptions.InvalidURL("the collector redirects")


def _not_of_our_export(record: logging.LogRecord) -> bool:
    """Drop what the exporter logs of our exports: it repeats the collector's text (CONTRACT 7), line after line."""
    return record.threadName != EXPORT_THREAD
