"""Each alert fires in the state that it is about, none where all is well; and all that is named is really sent.

Real processes are brought into each state. What they counted is laid out minute by minute, and Prometheus evaluates the
rules over it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.monitoring.prometheus_names import Samples, Series
from tests.monitoring.promtool import Phase, firing, laid_out, unexpected
from tests.monitoring.queries import ALERTS, Named, alerts, dashboard_queries, named_in, runbook_queries
from tests.monitoring.states import STATES, healthy

# An hour of healthy traffic, then the state; both windows of the longest rules have something to look at.
BEGINS = 60
OF_TIME = {"CapturesSlow", "RecallsSlow", "StoreAppendsSlow"}
DURATIONS = (
    "conversation_memory_capture_duration_seconds",
    "conversation_memory_recall_duration_seconds",
    "ruvector_append_seconds",
)
TRIES = 4

pytestmark = pytest.mark.slow


class Observed:
    """What was counted in each state, brought about when it is first asked for."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        self._kept: dict[str, Samples] = {}

    def healthy(self) -> Samples:
        return self._counted("healthy", healthy, hurried=True)

    def in_state(self, name: str) -> Samples:
        state = STATES[name]
        return self._counted(name, state.bring_about, hurried=not state.alerts & OF_TIME)

    def everything(self) -> list[Samples]:
        return [self.healthy(), *map(self.in_state, STATES)]

    def _counted(self, name: str, bring_about: Callable[[Path], Samples], *, hurried: bool) -> Samples:
        """``hurried``: nothing is slow in it, unless the machine is busy: then it is tried again."""
        for _ in range(TRIES):
            if name not in self._kept or (hurried and slow(self._kept[name])):
                self._kept[name] = bring_about(self._folders.mktemp("state"))
        return self._kept[name]


def slow(samples: Samples) -> bool:
    """Whether more than the first success of a process took longer than 0.5 s."""
    return any(
        count - samples[Series.of(f"{name}_bucket", {**dict(series.labels), "le": "0.5"})] > 1
        for series, count in samples.items()
        if (name := series.name.removesuffix("_count")) in DURATIONS and name != series.name
        if dict(series.labels).get("outcome") not in ("refused", "failed")
    )


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    return Observed(tmp_path_factory)


def test_no_alert_fires_where_all_is_well(observed: Observed, tmp_path: Path) -> None:
    # Instances that begin with all that they count in the first minute, end, and are followed by others.
    first, second = Phase(observed.healthy(), 0, 120), Phase(renamed(observed.healthy()), 120, 60)
    assert firing(ALERTS, laid_out([first, second]), range(180), tmp_path) == {}


@pytest.mark.parametrize("name", STATES)
def test_the_alerts_of_a_state_fire_in_it_and_no_others(observed: Observed, tmp_path: Path, name: str) -> None:
    state = STATES[name]
    ends = BEGINS + state.minutes
    rows = laid_out([Phase(observed.healthy(), 0, ends + 30), Phase(observed.in_state(name), BEGINS, state.minutes)])
    expected = {BEGINS - 1: (), ends: state.alerts}
    assert unexpected(ALERTS, rows, expected, tmp_path, but=state.also) == []


def test_captures_that_stop_are_noticed(observed: Observed, tmp_path: Path) -> None:
    rows = laid_out([Phase(observed.healthy(), 0, BEGINS)])
    expected = {BEGINS: (), BEGINS + 17: {"CapturesStopped"}, BEGINS + 90: ()}
    assert unexpected(ALERTS, rows, expected, tmp_path) == []


def test_every_alert_is_fired_by_a_test() -> None:
    fired = {"CapturesStopped"}.union(*(state.alerts for state in STATES.values()))
    assert fired == {alert.name for alert in alerts()}


@pytest.fixture(scope="module")
def values(observed: Observed) -> dict[str, dict[str, set[str]]]:
    """Of each metric that was seen, its labels and the values that they had."""
    seen: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for samples in observed.everything():
        for series in samples:
            for label, value in series.labels:
                seen[series.name][label].add(value)
    return seen


@pytest.mark.parametrize("where", ["alerts", "dashboard", "runbook"])
def test_every_metric_and_label_that_is_named_was_received(values: dict[str, dict[str, set[str]]], where: str) -> None:
    queries = {
        "alerts": [alert.query for alert in alerts()],
        "dashboard": dashboard_queries(),
        "runbook": runbook_queries(),
    }[where]
    unknown = {fault for query in queries for named in named_in(query) for fault in faults(named, values)}
    assert queries
    assert unknown == set()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("conversation_memory_capture_total", ["no metric conversation_memory_capture_total"]),
        (
            'conversation_memory_captures_total{result="failed"}',
            ["conversation_memory_captures_total has no label result"],
        ),
        (
            'sum by (error) (conversation_memory_captures_total{outcome=~"failed|lost"})',
            [
                "conversation_memory_captures_total has no label error",
                "conversation_memory_captures_total never had outcome=lost",
            ],
        ),
        ('conversation_memory_captures_total{outcome=~"captured|failed"}', []),
    ],
)
def test_a_name_that_nobody_sends_is_found(
    values: dict[str, dict[str, set[str]]], query: str, expected: list[str]
) -> None:
    assert [fault for named in named_in(query) for fault in faults(named, values)] == expected


def faults(named: Named, seen: dict[str, dict[str, set[str]]]) -> list[str]:
    """What a query names and nobody sent: the metric, a label of it, a value of a label."""
    if named.metric not in seen:
        return [f"no metric {named.metric}"]
    labels = seen[named.metric]
    asked = {label for label, _ in named.values} | set(named.grouped_by)
    return [f"{named.metric} has no label {label}" for label in asked - set(labels)] + [
        f"{named.metric} never had {label}={value}"
        for label, wanted in named.values
        for value in wanted
        if label in labels and value not in labels[label]
    ]


def renamed(samples: Samples) -> Samples:
    """The same of other instances."""
    return {
        series._replace(
            labels=tuple((key, f"{text}-2" if key == "instance" else text) for key, text in series.labels)
        ): value
        for series, value in samples.items()
    }
