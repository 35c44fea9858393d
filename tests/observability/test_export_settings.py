"""The standard variables of the SDK count for what we export, and what they hold is not told."""

from __future__ import annotations

import json

import pytest

from tests.observability.captures import MakeTracing, capture
from tests.observability.peers import SpanCollector
from tests.observability.processes import ended

ONE_CAPTURE = """
from agent.observability import configure_logging
configure_logging(sys.stderr, level="INFO")
telemetry = Telemetry.from_env(os.environ)
capture(telemetry)
"""


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_the_headers_of_the_environment_are_sent_with_both_signals(collector: SpanCollector) -> None:
    ended(
        ONE_CAPTURE,
        LLM_OBSERVATORY_URL=collector.url,
        OTEL_EXPORTER_OTLP_HEADERS="x-tenant=a%20b,Authorization=Bearer%20k",
        OTEL_EXPORTER_OTLP_METRICS_HEADERS="x-tenant=m",
    )
    spans, *metrics = collector.asked
    assert (spans["x-tenant"], spans["authorization"]) == ("a b", "Bearer k")
    # OTLP exporter specification: the variable of one signal takes the place of the general one.
    assert {(asked["x-tenant"], asked.get("authorization")) for asked in metrics} == {("m", None)}


def test_settings_that_cannot_be_read_are_told_without_what_they_hold(collector: SpanCollector) -> None:
    done = ended(
        ONE_CAPTURE,
        LLM_OBSERVATORY_URL=collector.url,
        OTEL_RESOURCE_ATTRIBUTES="hunter2-a,team=memory",
        OTEL_EXPORTER_OTLP_HEADERS="Bearer hunter2-b",
        OTEL_EXPORTER_OTLP_COMPRESSION="hunter2-c",
        OTEL_TRACES_SAMPLER="hunter2-d",
    )
    said = [json.loads(line)["message"] for line in done.errors.splitlines()]
    assert "hunter2" not in done.errors
    assert [message.partition(" ")[0] for message in said if "%s" in message] != []
    assert "capture acknowledged" in said
    assert len(collector.spans()) == 4
    assert collector.resource()["team"] == "memory"


def test_a_sampler_that_takes_nothing_leaves_the_metrics(collector: SpanCollector) -> None:
    ended(ONE_CAPTURE, LLM_OBSERVATORY_URL=collector.url, OTEL_TRACES_SAMPLER="always_off")
    assert (collector.spans(), len(collector.metrics)) == ([], 2)


def test_the_sdk_switched_off_keeps_even_the_observatory_from_being_asked(collector: SpanCollector) -> None:
    done = ended(
        ONE_CAPTURE + "print(json.dumps([name for name in sys.modules if name.startswith('opentelemetry')]))",
        LLM_OBSERVATORY_URL=collector.url,
        OTEL_SDK_DISABLED="true",
    )
    assert (json.loads(done.output), collector.asked) == ([], [])
    said = [json.loads(line)["message"] for line in done.errors.splitlines()]
    assert said == ["telemetry is switched off by OTEL_SDK_DISABLED", "capture acknowledged"]


def test_the_proxy_of_the_environment_is_asked(
    collector: SpanCollector, tracing_for: MakeTracing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", collector.url)
    capture(tracing_for({"LLM_OBSERVATORY_URL": "http://observatory.invalid"}))
    assert collector.paths == ["http://observatory.invalid/v1/traces"]


def test_a_host_that_is_to_be_reached_without_a_proxy_is(
    collector: SpanCollector, tracing_for: MakeTracing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", collector.url)
    monkeypatch.setenv("no_proxy", "observatory.invalid")
    capture(tracing_for({"LLM_OBSERVATORY_URL": "http://observatory.invalid"}))
    assert collector.paths == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_collector_on_loopback_is_asked_without_a_proxy(
    host: str, collector: SpanCollector, tracing_for: MakeTracing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    capture(tracing_for({"LLM_OBSERVATORY_URL": collector.url.replace("127.0.0.1", host)}))
    assert collector.paths == ["/v1/traces"]
