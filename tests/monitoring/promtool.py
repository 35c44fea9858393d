"""Real Prometheus evaluates our rules over series that a test lays out, minute by minute: ``promtool test rules``."""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.monitoring.prometheus_names import Samples, Series
from tests.monitoring.queries import PROJECT

_COUNTERS = ("_total", "_count", "_sum", "_bucket")


@dataclass(frozen=True)
class Phase:
    """What was counted in one minute, as if it came again each minute from ``start`` on, so many ``minutes`` long.

    Counters grow by it, gauges keep it. Before and after the phase its series are not there: its processes are not.
    """

    samples: Samples
    start: int
    minutes: int


Rows = list[dict[str, str]]


@functools.cache
def promtool() -> str:
    """Where promtool is. The test is skipped, with the reason, where there is none."""
    found = subprocess.run(
        ["sh", str(PROJECT / "scripts" / "promtool.sh")], capture_output=True, text=True, check=False
    )
    if found.returncode:
        pytest.skip(f"no promtool: {found.stderr.strip()}")
    return found.stdout.strip()


def row(series: Series, values: str) -> dict[str, str]:
    """A series with a value a minute, in promtool's notation: ``1+2x3`` is 1 3 5 7, ``_x3`` three minutes without."""
    return {"series": str(series), "values": values}


def laid_out(phases: Iterable[Phase]) -> Rows:
    """The series of all phases."""
    return [
        row(series, f"_x{phase.start} {values}" if phase.start else values)
        for phase in phases
        for series, value in phase.samples.items()
        for step in [value if series.name.endswith(_COUNTERS) else 0]
        for values in [f"{value:g}+{step:g}x{phase.minutes - 1}"]
    ]


def unexpected(
    rules: Path, rows: Rows, expected: Mapping[int, Iterable[str]], folder: Path, *, but: Iterable[str] = ()
) -> list[str]:
    """What promtool objects to if at each minute of ``expected`` exactly these alerts should fire, line by line.

    Whether those of ``but`` fire is not looked at.
    """
    alerts = f'ALERTS{{alertstate="firing", alertname!~"{"|".join(but)}"}}'
    test = {
        "rule_files": [str(rules)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": rows,
                "promql_expr_test": [
                    {
                        "expr": f"count by (alertname) ({alerts})",
                        "eval_time": f"{minute}m",
                        "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(names)],
                    }
                    for minute, names in expected.items()
                ],
            }
        ],
    }
    file = folder / "rules_test.yaml"
    file.write_text(yaml.safe_dump(test))
    done = subprocess.run([promtool(), "test", "rules", str(file)], capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else (done.stdout + done.stderr).splitlines()


def firing(rules: Path, rows: Rows, minutes: Iterable[int], folder: Path) -> dict[int, set[str]]:
    """The alerts that fire at each of ``minutes``; a minute in which none does is not there."""
    # None is expected, so promtool names each that there is.
    said = "\n".join(unexpected(rules, rows, dict.fromkeys(minutes, ()), folder))
    found: dict[int, set[str]] = {}
    for time, got in re.findall(r"time: (\w+),\s+exp: *\S*\s+got: *(.*)", said):
        found[_minutes(time)] = set(re.findall(r'alertname=\\*"(\w+)', got))
    if said and not found:
        raise ValueError(said)
    return found


def _minutes(duration: str) -> int:
    hours, minutes = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:0s)?", duration).groups(default="0")  # type: ignore[union-attr]  # promtool prints nothing else
    return int(hours) * 60 + int(minutes)
