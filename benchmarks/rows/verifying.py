"""``memory-graph agent conversation-memory verify`` over many events of an embedded store."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from benchmarks.figure import Figure, milliseconds
from benchmarks.pairs import Samples, ratios
from benchmarks.process import filesystem
from benchmarks.rows import Stage
from benchmarks.scripts import run_script


def run(stage: Stage) -> list[Figure]:
    """Events a second of the whole command, its start left out, against parsing and hashing the same bytes."""
    folder = stage.folder / "verify"
    folder.mkdir()
    events = stage.rounds(10_000, 1_000)
    arguments = (str(folder), str(stage.rounds(10, 5)), str(events))
    samples: Samples = run_script(stage, "benchmarks.verifying", *arguments, python=Path(sys.executable))
    product, baseline = (statistics.median(samples[side]["seconds"]) for side in ("command", "bare"))
    cpu = [statistics.median(samples[side]["cpu"]) for side in ("command", "bare")]
    return [
        Figure(
            name="verify",
            what=f"events a second of verify over {events} events of 10 turns, embedded store / json.loads + SHA-256",
            unit="x",
            limit="at least",
            bound=0.3,
            samples=ratios(samples, "bare", "command"),
            product=f"{1 / product:.0f}/s",
            baseline=f"{1 / baseline:.0f}/s",
            notes=(
                f"on {filesystem(folder)}; an event: {milliseconds(product)} / {milliseconds(baseline)}",
                f"CPU alone: {milliseconds(cpu[0])} / {milliseconds(cpu[1])}",
            ),
        )
    ]
