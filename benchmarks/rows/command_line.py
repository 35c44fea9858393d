"""The start of ``memory-graph --help``, against the start of Python itself."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from benchmarks.figure import Figure, milliseconds
from benchmarks.rows import Stage

# The bound is 2.5 times Python plus this much: it is taken off before the two are compared.
_ALLOWED_S: Final = 0.060


def run(stage: Stage) -> list[Figure]:
    """Measure both in turn, each round another one first. The command line is that of the environment in use."""
    script = str(Path(sys.executable).parent / "memory-graph")
    sides = {"product": [script, "--help"], "baseline": [sys.executable, "-c", "pass"]}
    samples: dict[str, list[float]] = {name: [] for name in sides}
    order = list(sides)
    for place in range(-1, stage.rounds(40, 10)):
        order.reverse()
        for name in order:
            took = _seconds(sides[name])
            # The first round is for the page cache.
            if place >= 0:
                samples[name].append(took)
    pairs = list(zip(samples["product"], samples["baseline"], strict=True))
    return [
        Figure(
            name="cli-help",
            what="start to end of memory-graph --help, less 60 ms / of python -c pass",
            unit="x",
            limit="at most",
            bound=2.5,
            samples=tuple((product - _ALLOWED_S) / baseline for product, baseline in pairs),
            product=milliseconds(sorted(samples["product"])[len(pairs) // 2]),
            baseline=milliseconds(sorted(samples["baseline"])[len(pairs) // 2]),
        )
    ]


def _seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started
