"""Where spans and metrics go, decided per request and for each of the two alone, in this order:

1. ``LLM_OBSERVATORY_URL`` is ours alone: providers of our own, not global ones, export there.
2. The host process has set a provider (auto-instrumentation): ours goes through it, whatever it does.
3. ``OTEL_EXPORTER_OTLP_*ENDPOINT``, which such a host reads as well: providers of our own, as in 1.
4. Else nowhere, and nothing of OpenTelemetry is imported.

What ours need is imported at start, where a collector is named: no request is held by it, and the first one's spans
are sent inside its bound. It is made by the first request that needs it, in the process that answers it: a host forks
its workers after it has loaded the function, and neither a thread nor a sum of one process is another's. At the end of
that process metrics are sent a last time.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agent import __version__
from agent.observability.budget import budget_s
from agent.observability.collector import Collector, collector_from
from agent.observability.logs import log_event, tell_as_ours
from agent.observability.metric_table import SCOPE

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter, MeterProvider
    from opentelemetry.trace import Tracer, TracerProvider

    from agent.observability.bounded_export import BoundedExport

_TRACE_API: Final = "opentelemetry.trace"
_METRICS_API: Final = "opentelemetry.metrics"
_PROXY: Final = "_ProxyMeterProvider"
_LIBRARY: Final = "opentelemetry"


class Traced(NamedTuple):
    """A tracer; ``export`` only where its provider is our own, so that nobody else sends its spans."""

    tracer: Tracer
    export: BoundedExport | None


class _Own(NamedTuple):
    """What exports to the collector; a signal that does not go there has None."""

    tracer: Tracer | None
    meter: Meter | None
    export: BoundedExport


class Destinations:
    """``collector`` is where to export to, ``bound_s`` how long a request may be held by it, in seconds.

    ``clock`` is monotonic seconds, ``at_exit`` keeps what is called at the end of the process.
    ``modules`` are those that the process has imported: only there can a host's provider be.
    """

    def __init__(
        self,
        collector: Collector | None,
        *,
        environ: Mapping[str, str],
        bound_s: float,
        clock: Callable[[], float] = time.monotonic,
        at_exit: Callable[[Callable[[], None]], object] = atexit.register,
        modules: Mapping[str, ModuleType] = sys.modules,
    ) -> None:
        self._collector = collector
        self._environ = environ
        self._bound_s = bound_s
        self._clock = clock
        self._at_exit = at_exit
        self._modules = modules
        self._own: _Own | None = None
        self._own_tried = False
        self._host_tracer: tuple[TracerProvider, Traced] | None = None
        self._host_meter: tuple[MeterProvider, Meter] | None = None
        self._lock = threading.Lock()
        if collector is not None:
            os.register_at_fork(after_in_child=_forgetting(self))

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Destinations:
        """As ``environ`` asks for it, ready for a first request. Raises ConfigurationError for what does not hold.

        Nothing that is made of it here is more than modules in memory: the process may fork.
        """
        destinations = cls(collector_from(environ), environ=environ, bound_s=budget_s(environ))
        destinations.prepare()
        return destinations

    def prepare(self) -> None:
        """Import what ours need, if any of the two goes there: a third of a second that no request is to wait for."""
        collector = self._collector
        if collector is None:
            return
        spans_leave = collector.traces is not None and (collector.ours or self._tracer_of_host() is None)
        metrics_leave = collector.metrics is not None and (collector.ours or self._meter_of_host() is None)
        if spans_leave or metrics_leave:
            # What is broken is said by whoever needs it.
            with suppress(Exception):
                import agent.observability.bounded_export
                import agent.observability.otlp  # noqa: F401 - as above: for those who come later

    @property
    def dropped(self) -> int:
        """How many spans were not sent, or not known to be."""
        return 0 if self._own is None else self._own.export.dropped

    def traces(self) -> Traced | None:
        """Where spans go now; None for nowhere."""
        collector = self._collector
        host = None if collector is not None and collector.ours else self._tracer_of_host()
        if host is not None or collector is None or collector.traces is None:
            return host
        own = self._made(collector)
        return None if own is None or own.tracer is None else Traced(own.tracer, own.export)

    def meter(self) -> Meter | None:
        """What metrics are made by now; None where they go nowhere."""
        collector = self._collector
        host = None if collector is not None and collector.ours else self._meter_of_host()
        if host is not None or collector is None or collector.metrics is None:
            return host
        own = self._made(collector)
        return None if own is None else own.meter

    def flush(self) -> None:
        """Send the metrics if they are due; blocks no longer than the bound."""
        if self._own is not None:
            self._own.export.send()

    def close(self) -> None:
        """Send metrics a last time and close the connection; what comes later is dropped."""
        if self._own is not None:
            self._own.export.close()
            atexit.unregister(self.close)

    def _tracer_of_host(self) -> Traced | None:
        # Whoever has set a provider has imported the API; importing it here would only cost the cold start.
        api = self._modules.get(_TRACE_API)
        if api is None:
            return None
        provider: TracerProvider = api.get_tracer_provider()
        if isinstance(provider, api.ProxyTracerProvider | api.NoOpTracerProvider):
            return None
        if self._host_tracer is None or self._host_tracer[0] is not provider:
            self._host_tracer = (provider, Traced(provider.get_tracer(SCOPE, __version__), None))
        return self._host_tracer[1]

    def _meter_of_host(self) -> Meter | None:
        api = self._modules.get(_METRICS_API)
        if api is None:
            return None
        provider: MeterProvider = api.get_meter_provider()
        # The API has no public name for the provider that stands for none.
        if isinstance(provider, api.NoOpMeterProvider) or type(provider).__name__ == _PROXY:
            return None
        if self._host_meter is None or self._host_meter[0] is not provider:
            self._host_meter = (provider, provider.get_meter(SCOPE, __version__))
        return self._host_meter[1]

    def _made(self, collector: Collector) -> _Own | None:
        if self._own is None:
            with self._lock:
                if not self._own_tried:
                    self._own_tried = True
                    self._own = self._make(collector)
        return self._own

    def _make(self, collector: Collector) -> _Own | None:
        """Make what exports to ``collector``; None, logged once, where the SDK cannot be used."""
        try:
            # The SDK and its exporter are a third of a cold start: only a function that exports pays for them.
            from agent.observability import otlp
            from agent.observability.bounded_export import BoundedExport

            tell_as_ours(_LIBRARY)
            resource = otlp.resource_of(self._environ)
            tracer: Any = None
            if collector.traces is not None:
                tracer = otlp.tracer_provider(resource).get_tracer(SCOPE, __version__)
            meter: Any = None
            reader = None
            if collector.metrics is not None:
                reader = otlp.metric_reader(self._environ)
                meter = otlp.meter_provider(resource, reader).get_meter(SCOPE, __version__)
            make = otlp.exporter_to(collector, reader=reader, bound_s=self._bound_s)
            export = BoundedExport(make, clock=self._clock, bound_s=self._bound_s, metrics=reader is not None)
        except Exception as error:  # noqa: BLE001 - a broken installation of the SDK costs the spans, not the captures
            log_event("telemetry unavailable", level=logging.ERROR, error=error)
            return None
        self._at_exit(self.close)
        return _Own(tracer, meter, export)

    def forget(self) -> None:
        """Let go of what the parent of a fork made: its threads stayed behind, its locks may be held for ever.

        And its sums are not ours.
        """
        self._own, self._own_tried = None, False
        self._lock = threading.Lock()


def _forgetting(destinations: Destinations) -> Callable[[], None]:
    """What a process that was forked off calls first; it keeps nothing alive."""
    reference = weakref.ref(destinations)

    def forget() -> None:
        known = reference()
        if known is not None:
            known.forget()

    return forget
