"""What runs found, as the table of docs/security/fuzzing.md: the run that saw the figures writes them."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from tests.fuzz.engine import Run
from tests.fuzz.targets import WHAT

BEGIN = "<!-- written by make fuzz: begin -->"
END = "<!-- written by make fuzz: end -->"
PAGE = Path(__file__).parents[2] / "docs" / "security" / "fuzzing.md"


def table(runs: Sequence[Run]) -> str:
    """One row a target, the runs of all processes together."""
    lines = ["| target | inputs | a second | kinds of outcome | slowest | findings |", "|---|---|---|---|---|---|"]
    for name in dict.fromkeys(run.target for run in runs):
        of_target = [run for run in runs if run.target == name]
        inputs, seconds = sum(run.executions for run in of_target), sum(run.seconds for run in of_target)
        slowest = max(of_target, key=lambda run: run.slowest_s)
        found = len({kind for run in of_target for kind in run.findings})
        outcomes = max(run.outcomes for run in of_target)
        cells = [f"{inputs:,}".replace(",", " "), f"{inputs / seconds if seconds else 0:.0f}", str(outcomes)]
        cells += [f"{slowest.slowest_s:.2f} s, {slowest.slowest_bytes} bytes", str(found)]
        lines.append(f"| **{name}**: {WHAT[name]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def markdown(runs: Sequence[Run], *, began: datetime, seconds: float, processes: int) -> str:
    """The table with where, when and how long."""
    seeds = ", ".join(dict.fromkeys(str(run.seed) for run in runs))
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    head = f"{began:%Y-%m-%d %H:%M} UTC, {seconds / 60:.0f} minutes, {processes} processes, seeds {seeds};\n"
    head += f"{machine}, Python {platform.python_version()}, load average {os.getloadavg()[0]:.0f} at the end. "
    head += "Inputs a second are those of one process; slowest is its own processor time."
    return f"{head}\n\n{table(runs)}"


def put_between_markers(text: str, document: Path = PAGE) -> None:
    """Replace what an earlier run wrote there. Raises ValueError where the markers are not in the document."""
    before, begin, rest = document.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{document.name} has no place for the table")
    document.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")
