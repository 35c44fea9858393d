"""The names that Prometheus gives to OpenTelemetry's metrics, by the examples of the specification."""

from __future__ import annotations

import pytest
from opentelemetry.proto.metrics.v1.metrics_pb2 import ResourceMetrics

from tests.monitoring.prometheus_names import Series, bound, label_name, metric_name, samples_of


@pytest.mark.parametrize(
    ("name", "unit", "is_counter", "expected"),
    [
        ("conversation_memory.captures", "{capture}", True, "conversation_memory_captures_total"),
        ("conversation_memory.capture.duration", "s", False, "conversation_memory_capture_duration_seconds"),
        ("conversation_memory.capture.size", "By", False, "conversation_memory_capture_size_bytes"),
        ("network.io", "By", True, "network_io_bytes_total"),
        ("requests_total", "", True, "requests_total"),
        ("wait_seconds", "s", False, "wait_seconds"),
        ("a..b--c", "", False, "a_b_c"),
    ],
)
def test_a_metric_has_its_unit_and_kind_in_its_name_once(name: str, unit: str, is_counter: bool, expected: str) -> None:
    assert metric_name(name, unit, is_counter=is_counter) == expected


def test_a_unit_that_is_not_ours_is_refused() -> None:
    with pytest.raises(ValueError, match="no rule here for the unit 'furlong'"):
        metric_name("distance", "furlong", is_counter=False)


def test_a_label_has_underscores_for_dots() -> None:
    assert label_name("error.type") == "error_type"


def test_a_bound_has_no_needless_zero() -> None:
    assert [bound(value) for value in (0.005, 0.5, 1.0, 300.0)] == ["0.005", "0.5", "1", "300"]


def exported(**histogram: object) -> ResourceMetrics:
    message = ResourceMetrics()
    for key, value in (("service.name", "capture"), ("service.instance.id", "i-1")):
        message.resource.attributes.add(key=key).value.string_value = value
    metric = message.scope_metrics.add().metrics.add(name="a.duration", unit="s")
    metric.histogram.aggregation_temporality = 2
    metric.histogram.data_points.add(**histogram)
    return message


def test_the_buckets_of_a_histogram_count_all_below() -> None:
    point = {"count": 6, "sum": 4.5, "explicit_bounds": [0.5, 1.0], "bucket_counts": [3, 2, 1]}
    values = {
        (series.name, dict(series.labels).get("le")): value for series, value in samples_of([exported(**point)]).items()
    }
    assert values == {
        ("a_duration_seconds_count", None): 6,
        ("a_duration_seconds_sum", None): 4.5,
        ("a_duration_seconds_bucket", "0.5"): 3,
        ("a_duration_seconds_bucket", "1"): 5,
        ("a_duration_seconds_bucket", "+Inf"): 6,
    }


def test_a_later_export_replaces_an_earlier_one() -> None:
    first = {"count": 1, "sum": 1.0, "explicit_bounds": [], "bucket_counts": [1]}
    then = {"count": 3, "sum": 2.0, "explicit_bounds": [], "bucket_counts": [3]}
    samples = samples_of([exported(**first), exported(**then)])
    labels = {"job": "capture", "instance": "i-1", "otel_scope_name": ""}
    assert samples[Series.of("a_duration_seconds_count", labels)] == 3


def test_an_export_of_differences_is_refused() -> None:
    message = exported(count=1, sum=1.0, explicit_bounds=[], bucket_counts=[1])
    message.scope_metrics[0].metrics[0].histogram.aggregation_temporality = 1
    with pytest.raises(ValueError, match=r"a\.duration is not cumulative"):
        samples_of([message])
