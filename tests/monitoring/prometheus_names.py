"""What OpenTelemetry's metrics are called in Prometheus, and the series that one OTLP export makes.

The rules are those of OpenTelemetry's "Prometheus and OpenMetrics Compatibility" specification, section "OTLP Metric
points to Prometheus", as collectors and Google's exporter ``googlemanagedprometheus`` apply them. Refuses what none of
our metrics is: units that are not listed here, delta temporality, gauges, exponential histograms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

CUMULATIVE = 2  # AGGREGATION_TEMPORALITY_CUMULATIVE of opentelemetry.proto.metrics.v1
UNITS = {"s": "seconds", "By": "bytes"}


class Series(NamedTuple):
    """One time series: the metric's name and its labels in order of their names."""

    name: str
    labels: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, name: str, labels: Mapping[str, str]) -> Series:
        return cls(name, tuple(sorted(labels.items())))

    def __str__(self) -> str:
        labels = ", ".join(f'{label}="{value}"' for label, value in self.labels)
        return f"{self.name}{{{labels}}}"


Samples = dict[Series, float]


def metric_name(name: str, unit: str, *, is_counter: bool) -> str:
    """The name without what a histogram adds: dots are underscores, the unit and ``_total`` come behind.

    A unit in braces is an annotation and goes. Raises ValueError for a unit that is not known here.
    """
    words = [_allowed(name)]
    if suffix := _unit_suffix(unit):
        words.append(suffix)
    if is_counter:
        words.append("total")
    kept = [word for at, word in enumerate(words) if at == 0 or not words[0].endswith(f"_{word}")]
    return "_".join(kept)


def label_name(attribute: str) -> str:
    """The label of an attribute: ``error.type`` is ``error_type``."""
    return _allowed(attribute)


def bound(value: float) -> str:
    """A bucket's upper bound as a label: 5 and not 5.0, as Go prints it."""
    return str(int(value)) if value == int(value) else repr(value)


def samples_of(resource_metrics: Iterable[Any]) -> Samples:
    """The series in OTLP messages ``ResourceMetrics``, in the order of their arrival: the last value of each stays."""
    samples: Samples = {}
    for resource in resource_metrics:
        target = _target(_texts(resource.resource.attributes))
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                samples.update(_series(metric, {**target, "otel_scope_name": scope.scope.name}))
    return samples


def _series(metric: Any, labels: Mapping[str, str]) -> Iterator[tuple[Series, float]]:
    kind = metric.WhichOneof("data")
    if kind not in ("sum", "histogram"):
        raise ValueError(f"{metric.name} is a {kind}: not one of ours")
    data = getattr(metric, kind)
    if data.aggregation_temporality != CUMULATIVE:
        raise ValueError(f"{metric.name} is not cumulative")
    name = metric_name(metric.name, metric.unit, is_counter=kind == "sum" and data.is_monotonic)
    for point in data.data_points:
        own = {**labels, **{label_name(key): text for key, text in _texts(point.attributes).items()}}
        if kind == "sum":
            yield Series.of(name, own), float(getattr(point, point.WhichOneof("value")))
        else:
            yield from _histogram(name, own, point)


def _histogram(name: str, labels: Mapping[str, str], point: Any) -> Iterator[tuple[Series, float]]:
    yield Series.of(f"{name}_count", labels), float(point.count)
    yield Series.of(f"{name}_sum", labels), float(point.sum)
    below = 0
    bounds = [*map(bound, point.explicit_bounds), "+Inf"]
    for le, count in zip(bounds, point.bucket_counts, strict=True):
        below += count
        yield Series.of(f"{name}_bucket", {**labels, "le": le}), float(below)


def _target(resource: Mapping[str, str]) -> dict[str, str]:
    """``job`` and ``instance``: what a service and its process are called, by the same specification."""
    namespace = resource.get("service.namespace")
    service = resource["service.name"]
    return {
        "job": f"{namespace}/{service}" if namespace else service,
        "instance": resource["service.instance.id"],
    }


def _texts(attributes: Iterable[Any]) -> dict[str, str]:
    return {each.key: str(getattr(each.value, each.value.WhichOneof("value"))) for each in attributes}


def _unit_suffix(unit: str) -> str:
    bare = re.sub(r"\{[^}]*\}", "", unit)
    if not bare:
        return ""
    if bare not in UNITS:
        raise ValueError(f"no rule here for the unit {unit!r}")
    return UNITS[bare]


def _allowed(name: str) -> str:
    return re.sub(r"_+", "_", re.sub(r"[^a-zA-Z0-9_:]", "_", name))
