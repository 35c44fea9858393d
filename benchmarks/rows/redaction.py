"""Redaction: what the detectors cost a message of the real conversations in tests/data."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from typing import Final

from benchmarks.figure import Figure, milliseconds
from benchmarks.rows import Stage
from benchmarks.rows.entities import real_texts
from benchmarks.scripts import run_script

_AS_QUICK_AS: Final = "Google's PhoneNumberMatcher alone"


def run(stage: Stage) -> list[Figure]:
    """The time of a message, p50 and p99, beside a matcher of telephone numbers alone, and what loading takes."""
    texts = real_texts()
    file = stage.folder / "redaction.json"
    file.write_text(json.dumps(texts))
    samples = run_script(stage, "benchmarks.redaction", "messages", str(file), str(stage.rounds(9, 3)))
    seconds = tuple(1e3 * run_script(stage, "benchmarks.redaction", "loading") for _ in range(stage.rounds(5, 2)))
    taken = run_script(stage, "benchmarks.redaction", "memory") / 1e6
    characters = sum(map(len, texts))
    ratio = sum(samples["find"]) / sum(samples["matcher"])
    note = (
        f"{len(texts)} messages of {characters // len(texts)} characters on average; all of them / {_AS_QUICK_AS}: "
        f"{ratio:.2f}; {1e9 * sum(samples['find']) / characters:.0f} ns a character"
    )
    return [
        _figure("redaction-p50", "p50", statistics.median, 200, samples, note),
        _figure("redaction-p99", "p99", _p99, 5_000, samples, note),
        Figure("redaction-import", "CPU of loading the detectors and the libraries", "ms", "at most", None, seconds),
        Figure("redaction-memory", "memory of the detectors and the libraries", "MB", "at most", None, (taken,)),
    ]


def _figure(
    name: str,
    which: str,
    chosen: Callable[[list[float]], float],
    bound: float,
    samples: dict[str, list[float]],
    note: str,
) -> Figure:
    product, nothing = chosen(samples["find"]), chosen(samples["nothing"])
    return Figure(
        name=name,
        what=f"detectors on a message, CPU, {which}; beside them a detector that finds nothing",
        unit="us",
        limit="at most",
        bound=bound,
        samples=(1e6 * (product - nothing),),
        product=milliseconds(product),
        baseline=milliseconds(nothing),
        notes=(note,),
    )


def _p99(seconds: list[float]) -> float:
    return sorted(seconds)[int(0.99 * len(seconds))]
