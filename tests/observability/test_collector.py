"""Which collector the environment names."""

from __future__ import annotations

import pytest

from agent.errors import ConfigurationError
from agent.observability.collector import Collector, collector_from
from tests.observability.conftest import RecordedLog

BASE = "http://collector:4318"


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
    assert collector_from({"LLM_OBSERVATORY_URL": given}) == Collector(url, ours=True)


def test_the_standard_variables_count_as_the_specification_has_them() -> None:
    assert collector_from({"OTEL_EXPORTER_OTLP_ENDPOINT": f"{BASE}/"}) == Collector(f"{BASE}/v1/traces", ours=False)
    traces = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{BASE}/as-it-is", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://other"}
    assert collector_from(traces) == Collector(f"{BASE}/as-it-is", ours=False)


def test_the_observatory_comes_first() -> None:
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://other", "LLM_OBSERVATORY_URL": BASE, "OTEL_SDK_DISABLED": "true"}
    assert collector_from(environ) == Collector(f"{BASE}/v1/traces", ours=True)


@pytest.mark.parametrize("environ", [{}, {"LLM_OBSERVATORY_URL": "  ", "OTEL_EXPORTER_OTLP_ENDPOINT": ""}])
def test_without_an_endpoint_there_is_no_collector(environ: dict[str, str]) -> None:
    assert collector_from(environ) is None


@pytest.mark.parametrize(
    ("switch", "value"),
    [("OTEL_SDK_DISABLED", "True"), ("OTEL_TRACES_EXPORTER", "none"), ("OTEL_TRACES_EXPORTER", "console")],
)
def test_the_standard_switches_turn_the_standard_endpoint_off(switch: str, value: str, log: RecordedLog) -> None:
    assert collector_from({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, switch: value}) is None
    assert log.messages() == []


@pytest.mark.parametrize(
    "protocols",
    [
        {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
        {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
    ],
)
def test_an_endpoint_of_another_protocol_is_left_alone_and_that_is_said(
    protocols: dict[str, str], log: RecordedLog
) -> None:
    assert collector_from({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, **protocols}) is None
    assert log.messages() == ["telemetry endpoint left alone: its protocol is not http/protobuf"]


def test_the_protocol_of_traces_wins_over_the_general_one() -> None:
    protocols = {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    assert (
        collector_from({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, "OTEL_TRACES_EXPORTER": "otlp", **protocols}) is not None
    )


@pytest.mark.parametrize(
    "variable", ["LLM_OBSERVATORY_URL", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]
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
