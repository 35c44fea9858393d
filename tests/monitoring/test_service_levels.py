"""Each objective names the alerts that watch it, each alert is named, and the numbers are those of the rules."""

from __future__ import annotations

import re

import pytest

from tests.monitoring.queries import SERVICE_LEVELS, alerts, named_in

TEXT = SERVICE_LEVELS.read_text()
KNOWN = {alert.name: alert for alert in alerts()}


def rows() -> list[list[str]]:
    """The rows of the table of objectives: name, of what, at least, alerts."""
    table = TEXT.split("## Objectives")[1].split("\n\n")[1]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def named(text: str) -> set[str]:
    return set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`", text))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_an_objective_names_alerts_that_exist(row: list[str]) -> None:
    assert named(row[3])
    assert named(row[3]) <= set(KNOWN)


def test_every_alert_is_named_and_no_other() -> None:
    assert named(TEXT) == set(KNOWN)


def test_who_is_woken_is_woken_for_an_objective() -> None:
    watched = {name for row in rows() for name in named(row[3])}
    assert {alert.name for alert in alerts() if alert.severity == "page"} <= watched


def test_an_alert_that_says_why_is_a_ticket_and_has_no_objective() -> None:
    reasons = named(TEXT.split("## Alerts that say why")[1].split("\n## ")[0])
    watched = {name for row in rows() for name in named(row[3])}
    assert reasons == set(KNOWN) - watched
    assert {KNOWN[name].severity for name in reasons} == {"ticket"}


@pytest.mark.parametrize("row", [row for row in rows() if re.search(r"\d s\b", row[1])], ids=lambda row: row[0])
def test_the_time_of_an_objective_is_a_bound_of_its_rules(row: list[str]) -> None:
    seconds = re.findall(r"([\d.]+) s\b", row[1])
    bounds = {
        value
        for name in named(row[3])
        for each in named_in(KNOWN[name].query)
        for label, values in each.values
        if label == "le"
        for value in values
    }
    assert bounds == set(seconds)


@pytest.mark.parametrize(
    ("alert", "times"), [("CapturesFailingFast", 14.4), ("CapturesFailingSlowly", 6), ("RecallsFailing", 14.4)]
)
def test_a_share_of_failures_is_so_many_times_what_the_objective_allows(alert: str, times: float) -> None:
    (objective,) = [float(row[2].rstrip(" %")) for row in rows() if alert in named(row[3])]
    (bound,) = set(re.findall(r"> (0\.\d+)", KNOWN[alert].query))
    assert float(bound) == pytest.approx(times * (100 - objective) / 100)
