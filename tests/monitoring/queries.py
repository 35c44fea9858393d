"""What the alert rules, the dashboard and the runbook ask Prometheus for: queries, parsed, and what they name.

A query is parsed by promql-parser. What it names is a list of ``Named``: a metric, the labels that are matched or
grouped by, and the values that they are compared with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import promql_parser
import yaml

PROJECT = Path(__file__).resolve().parents[2]
ALERTS = PROJECT / "deploy" / "monitoring" / "alerts.yaml"
DASHBOARD = PROJECT / "deploy" / "monitoring" / "dashboard.json"
RUNBOOK = PROJECT / "docs" / "operate" / "runbook.md"
SERVICE_LEVELS = PROJECT / "docs" / "operate" / "service-levels.md"


class Named(NamedTuple):
    """A metric that a query names; ``values`` are those that each label is asked to have, if any."""

    metric: str
    values: tuple[tuple[str, tuple[str, ...]], ...]
    grouped_by: tuple[str, ...]


@dataclass(frozen=True)
class Alert:
    name: str
    query: str
    severity: str
    annotations: dict[str, str]


def alerts() -> list[Alert]:
    """The rules of alerts.yaml, in their order."""
    return [
        Alert(rule["alert"], rule["expr"], rule["labels"]["severity"], rule["annotations"])
        for group in yaml.safe_load(ALERTS.read_text())["groups"]
        for rule in group["rules"]
    ]


def dashboard_queries() -> list[str]:
    """Every query of the dashboard, in its order."""
    return list(_members(json.loads(DASHBOARD.read_text()), "prometheusQuery"))


def blocks(document: Path, language: str) -> list[str]:
    """The fenced blocks of a Markdown document in one language, each as its text."""
    return re.findall(rf"^```{language}\n(.*?)^```$", document.read_text(), re.MULTILINE | re.DOTALL)


def runbook_queries() -> list[str]:
    """Every query of the runbook: one a block."""
    return [text.strip() for text in blocks(RUNBOOK, "promql")]


def named_in(query: str) -> list[Named]:
    """The metrics that ``query`` names. Raises ValueError for what is no PromQL."""
    return list(_named(promql_parser.parse(query), ()))


def _named(node: Any, grouped_by: tuple[str, ...]) -> Iterator[Named]:
    if isinstance(node, promql_parser.VectorSelector):
        yield Named(node.name, _values(node), grouped_by)
    elif isinstance(node, promql_parser.MatrixSelector):
        yield from _named(node.vector_selector, grouped_by)
    elif isinstance(node, promql_parser.AggregateExpr):
        labels = tuple(node.modifier.labels) if node.modifier else ()
        yield from _named(node.expr, (*grouped_by, *labels))
    elif isinstance(node, promql_parser.BinaryExpr):
        yield from _named(node.lhs, grouped_by)
        yield from _named(node.rhs, grouped_by)
    elif isinstance(node, promql_parser.Call):
        for argument in node.args:
            yield from _named(argument, grouped_by)
    elif isinstance(node, promql_parser.ParenExpr | promql_parser.UnaryExpr | promql_parser.SubqueryExpr):
        yield from _named(node.expr, grouped_by)
    elif not isinstance(node, promql_parser.NumberLiteral | promql_parser.StringLiteral):
        raise TypeError(f"a part of a query that is not known here: {type(node).__name__}")


def _values(selector: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Each label with the values that it is compared with: of a regular expression its alternatives."""
    return tuple(
        (matcher.name, tuple(matcher.value.split("|")) if "Re" in str(matcher.op) else (matcher.value,))
        for matcher in selector.matchers.matchers
    )


def _members(document: Any, name: str) -> Iterator[str]:
    if isinstance(document, dict):
        for key, value in document.items():
            if key == name:
                yield value
            else:
                yield from _members(value, name)
    elif isinstance(document, list):
        for value in document:
            yield from _members(value, name)
