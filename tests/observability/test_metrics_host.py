"""A host that has set a meter provider gets the metrics, and a broken one costs no request its answer."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from opentelemetry import metrics as api
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from agent.observability.telemetry import Telemetry
from tests.observability.conftest import Clock, destinations_for
from tests.observability.peers import SpanCollector

REF = "3f0c9a1e-0000-4000-8000-000000000001"


def modules(provider: Any) -> dict[str, ModuleType]:
    """The metrics API as a process has imported it, with a provider that somebody has set."""
    module = ModuleType("opentelemetry.metrics")
    module.__dict__.update(get_meter_provider=lambda: provider, NoOpMeterProvider=api.NoOpMeterProvider)
    return {"opentelemetry.metrics": module}


@pytest.fixture
def reader() -> InMemoryMetricReader:
    return InMemoryMetricReader()


@pytest.fixture
def provider(reader: InMemoryMetricReader) -> Iterator[MeterProvider]:
    provider = MeterProvider(metric_readers=[reader], shutdown_on_exit=False)
    yield provider
    provider.shutdown()


def capture(provider: Any, clock: Clock, **environ: str) -> None:
    destinations = destinations_for(environ, clock, modules(provider))
    request = Telemetry(destinations, project=None).begin({"REQUEST_METHOD": "POST"}, REF)
    request.captured(execution_ref=REF, duplicate=False, turns=1, received_bytes=1, latency_ms=1)
    request.end()
    destinations.close()


def names(reader: InMemoryMetricReader) -> set[str]:
    data = reader.get_metrics_data()
    found = [] if data is None else [scope for resource in data.resource_metrics for scope in resource.scope_metrics]
    assert {scope.scope.name for scope in found} <= {"conversation_memory"}
    return {metric.name for scope in found for metric in scope.metrics}


def test_metrics_go_through_the_provider_that_a_host_has_set(
    provider: MeterProvider, reader: InMemoryMetricReader, clock: Clock
) -> None:
    capture(provider, clock)
    assert "conversation_memory.captures" in names(reader)


def test_the_standard_endpoint_is_left_to_such_a_host_and_the_observatory_is_not(
    provider: MeterProvider, reader: InMemoryMetricReader, collector: SpanCollector, clock: Clock
) -> None:
    capture(provider, clock, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert collector.metrics == []
    assert "conversation_memory.captures" in names(reader)
    capture(provider, clock, LLM_OBSERVATORY_URL=collector.url)
    assert len(collector.metrics) == 2  # with the request, and at the end
    assert {point.value for point in collector.points() if point.name == "conversation_memory.captures"} == {1}


def test_an_imported_api_without_a_provider_is_no_host(collector: SpanCollector, clock: Clock) -> None:
    for provider in (api.get_meter_provider(), api.NoOpMeterProvider()):
        capture(provider, clock, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert len(collector.metrics) == 4


@pytest.mark.parametrize("where", ["get_meter", "create_counter", "add"])
def test_a_broken_provider_of_a_host_costs_no_request_its_answer(where: str, clock: Clock) -> None:
    reached: list[str] = []

    class Broken(api.NoOpMeter):
        def _reach(self, place: str) -> Any:
            reached.append(place)
            if place == where:
                raise RuntimeError
            return self

        def get_meter(self, *arguments: object) -> Any:
            return self._reach("get_meter")

        def create_counter(self, *arguments: Any, **options: Any) -> Any:
            return self._reach("create_counter")

        def add(self, *arguments: object) -> None:
            self._reach("add")

    capture(Broken("host"), clock)
    assert reached[-1] == where
