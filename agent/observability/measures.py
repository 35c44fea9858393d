"""Adds to the metrics of ``metric_table`` by the OpenTelemetry API, wherever they go. Never raises into a request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agent.observability.destinations import Destinations
from agent.observability.metric_table import METRICS, Metric

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Meter, Observation

_NO_LABELS: Mapping[str, str] = {}


class Measures:
    """The metrics of a process, as far as ``destinations`` sends them anywhere."""

    def __init__(self, destinations: Destinations) -> None:
        self._destinations = destinations
        self._made: tuple[Meter, dict[str, Any]] | None = None

    @property
    def are_sent(self) -> bool:
        """Whether anybody takes them: a capture that nobody counts need not add them up."""
        with suppress(Exception):
            return self._destinations.meter() is not None
        return False

    def add(self, name: str, amount: int, labels: Mapping[str, str] = _NO_LABELS) -> None:
        """Count ``amount`` more."""
        with suppress(Exception):  # no failure of telemetry reaches a request
            if amount > 0 and (instruments := self._instruments()):
                instruments[name].add(amount, labels)

    def record(self, name: str, value: float, labels: Mapping[str, str] = _NO_LABELS) -> None:
        """Put ``value`` into a histogram; a clock that went backwards counts as none."""
        with suppress(Exception):
            if instruments := self._instruments():
                instruments[name].record(max(0.0, value), labels)

    def flush(self) -> None:
        """Send what there is, if it is time; blocks no longer than the export's bound."""
        with suppress(Exception):
            if self._made is not None:
                self._destinations.flush()

    def _instruments(self) -> dict[str, Any] | None:
        meter = self._destinations.meter()
        if meter is None:
            return None
        if self._made is None or self._made[0] is not meter:
            self._made = (meter, {metric.name: self._instrument(meter, metric) for metric in METRICS})
        return self._made[1]

    def _instrument(self, meter: Meter, metric: Metric) -> Any:
        about = {"unit": metric.unit, "description": metric.description}
        if metric.kind == "histogram":
            return meter.create_histogram(metric.name, **about, explicit_bucket_boundaries_advisory=metric.buckets)
        if metric.observed:
            return meter.create_observable_counter(metric.name, [self._dropped], **about)
        return meter.create_counter(metric.name, **about)

    def _dropped(self, _: CallbackOptions) -> Iterable[Observation]:
        from opentelemetry.metrics import Observation

        return (Observation(self._destinations.dropped),)
