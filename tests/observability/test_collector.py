"""Which collector the environment names."""

from __future__ import annotations

import pytest

from agent.errors import ConfigurationError
from agent.observability.collector import Collector, collector_from
from tests.observability.conftest import RecordedLog

BASE = "http://collector:4318"
TRACES, METRICS = f"{BASE}/v1/traces", f"{BASE}/v1/metrics"
ENDPOINTS = ["LLM_OBSERVATORY_URL", "OTEL_EXPORTER_OTLP_ENDPOINT"]


@pytest.mark.parametrize(
    ("given", "url"),
    [
        (BASE, f"{BASE}/v1/traces"),
        (f"{BASE}/", f"{BASE}/v1/traces"),
        (f"{BASE}/v1/traces", f"{BASE}/v1/traces"),
        (f"{BASE}/v1/traces/", f"{BASE}/v1/traces"),
        (f"{BASE}/tenant/a", f"{BASE}/tenant/a/v1/traces"),
        (f"{BASE}/otlp?tenant=a", f"{BASE}/otlp/v1/traces?tenant=a"),
        ("  https://observatory.example  ", "https://observatory.example/v1/traces"),
    ],
)
def test_the_observatory_is_named_by_a_base_or_by_the_whole_address(given: str, url: str) -> None:
    assert collector_from({"LLM_OBSERVATORY_URL": given}) == Collector(
        url, url.replace("/v1/traces", "/v1/metrics"), ours=True
    )


def test_the_standard_variables_count_as_the_specification_has_them() -> None:
    assert collector_from({"OTEL_EXPORTER_OTLP_ENDPOINT": f"{BASE}/"}) == Collector(TRACES, METRICS, ours=False)
    own = f"{BASE}/as-it-is"
    traces = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": own}
    assert collector_from(traces) == Collector(own, None, ours=False)
    assert collector_from({**traces, "OTEL_EXPORTER_OTLP_ENDPOINT": BASE}) == Collector(own, METRICS, ours=False)
    metrics = {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": own}
    assert collector_from(metrics) == Collector(None, own, ours=False)
    assert collector_from({**metrics, "OTEL_EXPORTER_OTLP_ENDPOINT": BASE}) == Collector(TRACES, own, ours=False)


def test_the_observatory_comes_first() -> None:
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://other", "LLM_OBSERVATORY_URL": BASE}
    assert collector_from(environ) == Collector(TRACES, METRICS, ours=True)


@pytest.mark.parametrize("environ", [{}, {"LLM_OBSERVATORY_URL": "  ", "OTEL_EXPORTER_OTLP_ENDPOINT": ""}])
def test_without_an_endpoint_there_is_no_collector(environ: dict[str, str]) -> None:
    assert collector_from(environ) is None


@pytest.mark.parametrize(
    "variable", [*ENDPOINTS, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"]
)
def test_the_sdk_switched_off_turns_every_endpoint_off_and_that_is_said(variable: str, log: RecordedLog) -> None:
    assert collector_from({variable: BASE, "OTEL_SDK_DISABLED": " True "}) is None
    assert log.messages() == ["telemetry is switched off by OTEL_SDK_DISABLED"]


def test_where_nothing_was_on_nothing_is_said_of_the_sdk_switched_off(log: RecordedLog) -> None:
    assert collector_from({"OTEL_SDK_DISABLED": "true"}) is None
    assert log.messages() == []


def test_only_the_word_true_switches_the_sdk_off() -> None:
    for word in ("false", "1", "yes", ""):
        assert collector_from({"LLM_OBSERVATORY_URL": BASE, "OTEL_SDK_DISABLED": word}) is not None


@pytest.mark.parametrize("variable", ENDPOINTS)
def test_each_signal_can_be_switched_off_alone_and_both_together(variable: str, log: RecordedLog) -> None:
    ours = variable == "LLM_OBSERVATORY_URL"
    spans_off, metrics_off = {"OTEL_TRACES_EXPORTER": "none"}, {"OTEL_METRICS_EXPORTER": " None "}
    assert collector_from({variable: BASE, **spans_off}) == Collector(None, METRICS, ours)
    assert collector_from({variable: BASE, **metrics_off}) == Collector(TRACES, None, ours)
    assert collector_from({variable: BASE, **spans_off, **metrics_off}) is None
    assert log.messages() == []


def test_another_exporter_of_a_host_takes_the_standard_endpoint_from_us_and_not_the_observatory() -> None:
    console = {"OTEL_TRACES_EXPORTER": "console", "OTEL_METRICS_EXPORTER": "prometheus"}
    assert collector_from({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, **console}) is None
    assert collector_from({"LLM_OBSERVATORY_URL": BASE, **console}) == Collector(TRACES, METRICS, ours=True)


@pytest.mark.parametrize(
    ("protocols", "found", "signals"),
    [
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, None, ["traces", "metrics"]),
        ({"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"}, Collector(None, METRICS, ours=False), ["traces"]),
        ({"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "grpc"}, Collector(TRACES, None, ours=False), ["metrics"]),
    ],
)
def test_an_endpoint_of_another_protocol_is_left_alone_and_that_is_said(
    protocols: dict[str, str], found: Collector | None, signals: list[str], log: RecordedLog
) -> None:
    assert collector_from({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, **protocols}) == found
    assert [(entry["message"], entry["signal"]) for entry in log.entries()] == [
        ("telemetry endpoint left alone: its protocol is not http/protobuf", signal) for signal in signals
    ]


def test_the_protocol_of_traces_wins_over_the_general_one() -> None:
    protocols = {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    assert (
        collector_from({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, "OTEL_TRACES_EXPORTER": "otlp", **protocols}) is not None
    )


@pytest.mark.parametrize(
    "variable", [*ENDPOINTS, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"]
)
@pytest.mark.parametrize(
    "given",
    ["collector:4318", "ftp://collector", "http://:80", "http://[::1", "http://c:port", "http://c:0", "http://c:99999",
     "http://a b", "http://a/\x00", "http://größe"],
)  # fmt: skip
def test_what_is_no_url_is_refused_by_the_variable_and_without_the_value(variable: str, given: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        collector_from({variable: given})
    assert caught.value.variable == variable
    assert given not in str(caught.value)
    assert caught.value.__suppress_context__
