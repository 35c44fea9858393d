"""Where spans are exported to, as the environment names it: OTLP over HTTP with protobuf, nothing else."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from agent.errors import ConfigurationError
from agent.observability.logs import log_event

OBSERVATORY: Final = "LLM_OBSERVATORY_URL"
_TRACES_ENDPOINT: Final = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
_ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_SPOKEN: Final = "http/protobuf"
# OTLP specification, "OTLP/HTTP Request": the default path of traces.
_PATH: Final = "/v1/traces"
_NO_URL_CHARACTER: Final = re.compile(r"[^\x21-\x7e]")


class Collector(NamedTuple):
    """``url`` is the whole address that spans are posted to. ``ours``: named by our own variable, no shared one."""

    url: str
    ours: bool


def collector_from(environ: Mapping[str, str]) -> Collector | None:
    """Read which collector ``environ`` names, None where it names none.

    ``LLM_OBSERVATORY_URL`` (a base, or the whole address ending in /v1/traces) comes first; the standard variables
    count as the OpenTelemetry specification has them, and not at all where they switch the SDK or the exporter off.
    Raises ConfigurationError with the variable's name for what is no http or https URL.
    """
    if observatory := environ.get(OBSERVATORY, "").strip():
        return Collector(_with_path(_checked(OBSERVATORY, observatory)), ours=True)
    traces, base = (environ.get(name, "").strip() for name in (_TRACES_ENDPOINT, _ENDPOINT))
    if not (traces or base) or _switched_off(environ):
        return None
    if traces:
        return Collector(_checked(_TRACES_ENDPOINT, traces), ours=False)
    return Collector(_checked(_ENDPOINT, base).rstrip("/") + _PATH, ours=False)


def _switched_off(environ: Mapping[str, str]) -> bool:
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return True
    if environ.get("OTEL_TRACES_EXPORTER", "").strip().lower() not in {"", "otlp"}:
        return True
    protocol = next((value for name in _PROTOCOLS if (value := environ.get(name, "").strip().lower())), _SPOKEN)
    if protocol != _SPOKEN:
        # Not refused: an instrumented host may speak it, and then our spans go through the host.
        log_event("telemetry endpoint left alone: its protocol is not http/protobuf", level=logging.WARNING)
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


def _with_path(given: str) -> str:
    url = urlsplit(given)
    path = url.path.rstrip("/")
    return url._replace(path=path if path.endswith(_PATH) else path + _PATH).geturl()
