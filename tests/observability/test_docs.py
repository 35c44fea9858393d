"""What the docs say of telemetry is what the code does: the table, the settings, the example of a collector."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from agent.observability import collector
from agent.observability.budget import BUDGET, DEFAULT_MS
from agent.observability.metric_table import ERROR_CODE, METRICS, ROUTE

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def text() -> str:
    return (REPOSITORY / "docs/operate/observability.md").read_text()


def test_the_docs_have_the_table_of_metrics_as_it_is(text: str) -> None:
    rows = dict(
        re.findall(r"^\| `(conversation_memory\.[a-z_.]+)` \| ((?:counter|histogram).+) \|$", text, re.MULTILINE)
    )
    assert list(rows) == [metric.name for metric in METRICS]
    for metric in METRICS:
        kind, labels, _ = rows[metric.name].split(" | ")
        assert kind == f"{metric.kind}, {metric.unit}"
        told = {name: tuple(re.findall("`([^`]+)`", said)) for name, said in re.findall("`([a-z.]+)`: ([^;]+)", labels)}
        open_sets = ((ERROR_CODE,), (ROUTE,))
        assert told == {name: () if said in open_sets else said for name, said in metric.labels.items()}, metric.name


def test_the_docs_name_every_setting_that_is_read_and_the_default_of_the_budget(text: str) -> None:
    sources = "".join(path.read_text() for path in (REPOSITORY / "agent/observability").glob("*.py"))
    read = set(re.findall(r'"((?:OTEL|LLM|TELEMETRY|GOOGLE|K)_[A-Z_]+)"', sources))
    # The protocol has a variable for each of the two; the docs name the one for both.
    read -= {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL"}
    assert read >= {BUDGET, collector.OBSERVATORY, "OTEL_METRICS_EXPORTER", "K_SERVICE", "GOOGLE_CLOUD_PROJECT"}
    assert {name for name in read if f"`{name}" not in text} == set()
    assert f"| `{BUDGET}` | `{DEFAULT_MS}` |" in text


def test_the_collector_of_the_docs_has_every_part_that_its_pipelines_name(text: str) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    parsed = yaml.safe_load(example)
    pipelines = parsed["service"]["pipelines"]
    assert set(pipelines) == {"traces", "metrics"}
    for pipeline in pipelines.values():
        for kind, names in pipeline.items():
            assert set(names) <= set(parsed[kind])
    assert parsed["receivers"]["otlp"]["protocols"]["http"]["endpoint"] in text.replace("```yaml" + example, "")
