"""Where spans and metrics are exported to, as the environment names it: OTLP over HTTP with protobuf, nothing else."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from agent.errors import ConfigurationError
from agent.observability.logs import log_event

OBSERVATORY: Final = "LLM_OBSERVATORY_URL"
_ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
_DISABLED: Final = "OTEL_SDK_DISABLED"
_PROTOCOL: Final = "OTEL_EXPORTER_OTLP_PROTOCOL"
_SPOKEN: Final = "http/protobuf"
_NO_URL_CHARACTER: Final = re.compile(r"[^\x21-\x7e]")


class _Signal(NamedTuple):
    """One of the two kinds of what is exported. ``path`` is its default (OTLP specification, "OTLP/HTTP Request")."""

    path: str
    endpoint: str
    protocol: str
    exporter: str


_TRACES: Final = _Signal(
    "/v1/traces",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_TRACES_EXPORTER",
)
_METRICS: Final = _Signal(
    "/v1/metrics",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
    "OTEL_METRICS_EXPORTER",
)
_ENDPOINTS: Final = (_ENDPOINT, _TRACES.endpoint, _METRICS.endpoint)


class Collector(NamedTuple):
    """The whole addresses that spans and metrics are posted to; None is where nothing goes.

    ``ours``: named by our own variable, which no host shares.
    """

    traces: str | None
    metrics: str | None
    ours: bool


def collector_from(environ: Mapping[str, str]) -> Collector | None:
    """Read which collector ``environ`` names, None where it names none.

    ``LLM_OBSERVATORY_URL`` (a base, or the whole address ending in /v1/traces) comes first. What switches off counts
    beside it: the word ``none`` of OTEL_TRACES_EXPORTER and OTEL_METRICS_EXPORTER, and OTEL_SDK_DISABLED, since it is
    the SDK that exports. The standard variables count as the OpenTelemetry specification has them, each signal for
    itself.
    Raises ConfigurationError with the variable's name for what is no http or https URL.
    """
    observatory = environ.get(OBSERVATORY, "").strip()
    if environ.get(_DISABLED, "").strip().lower() == "true":
        if observatory or any(environ.get(name, "").strip() for name in _ENDPOINTS):
            log_event("telemetry is switched off by OTEL_SDK_DISABLED")
        return None
    if observatory:
        base = _checked(OBSERVATORY, observatory)
        found = Collector(_beside(environ, _TRACES, base), _beside(environ, _METRICS, base), ours=True)
    else:
        found = Collector(_standard(environ, _TRACES), _standard(environ, _METRICS), ours=False)
    return found if found.traces or found.metrics else None


def _beside(environ: Mapping[str, str], signal: _Signal, base: str) -> str | None:
    """The address of ``signal`` at our own observatory."""
    if environ.get(signal.exporter, "").strip().lower() == "none":
        return None
    url = urlsplit(base)
    path = url.path.rstrip("/").removesuffix(_TRACES.path)
    return url._replace(path=path + signal.path).geturl()


def _standard(environ: Mapping[str, str], signal: _Signal) -> str | None:
    """The address of ``signal`` that the standard variables name."""
    own, base = (environ.get(name, "").strip() for name in (signal.endpoint, _ENDPOINT))
    if not (own or base) or _switched_off(environ, signal):
        return None
    if own:
        return _checked(signal.endpoint, own)
    return _checked(_ENDPOINT, base).rstrip("/") + signal.path


def _switched_off(environ: Mapping[str, str], signal: _Signal) -> bool:
    if environ.get(signal.exporter, "").strip().lower() not in {"", "otlp"}:
        return True
    named = (environ.get(name, "").strip().lower() for name in (signal.protocol, _PROTOCOL))
    if next((protocol for protocol in named if protocol), _SPOKEN) != _SPOKEN:
        # Not refused: an instrumented host may speak it, and then what we say goes through the host.
        log_event(
            "telemetry endpoint left alone: its protocol is not http/protobuf",
            level=logging.WARNING,
            fields={"signal": signal.path.rpartition("/")[2]},
        )
        return True
    return False


def _checked(variable: str, given: str) -> str:
    try:
        url = urlsplit(given)
        usable = url.scheme in {"http", "https"} and bool(url.hostname) and (url.port is None or url.port > 0)
    except ValueError:
        usable = False
    if not usable or _NO_URL_CHARACTER.search(given):
        # from None: the text of the cause holds the value.
        raise ConfigurationError(variable, "must be an http:// or https:// address") from None
    return given
