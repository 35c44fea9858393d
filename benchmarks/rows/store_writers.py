"""Appends a second of 32 writers in one process, on both engines."""

from __future__ import annotations

import statistics

from benchmarks.figure import Figure, milliseconds
from benchmarks.pairs import Samples, ratios
from benchmarks.postgres import postgres
from benchmarks.rows import Stage
from benchmarks.scripts import run_script


def run_postgresql(stage: Stage) -> list[Figure]:
    """Against the least that keeps the same bytes once: one INSERT, committed by itself, with a pool of as many."""
    with postgres(stage.folder / "store-writers-postgresql") as url:
        samples = _samples(stage, url)
    what = "appends a second, 32 writers on PostgreSQL / a bare INSERT ... ON CONFLICT of the same bytes (psycopg)"
    return [
        _figure("store-writers-postgresql", f"{what}; from the bytes of the write", 0.5, samples, "from_bytes"),
        _figure("store-writers-postgresql-alone", f"{what}; of what was read of them", 0.5, samples, "alone"),
    ]


def run_sqlite(stage: Stage) -> list[Figure]:
    """Nothing was promised of these: below the bound, one writer after the other would have been quicker."""
    folder = stage.folder / "store-writers-sqlite"
    folder.mkdir()
    samples = _samples(stage, f"sqlite:///{folder / 'store.db'}")
    what = "appends a second, 32 writers on SQLite / one writer"
    return [_figure("store-writers-sqlite", what, 0.9, samples, "from_bytes", baseline="one_writer")]


def _samples(stage: Stage, url: str) -> Samples:
    count, rounds = stage.rounds(640, 320), stage.rounds(15, 4)
    samples: Samples = run_script(stage, "benchmarks.store_writers", url, str(count), str(rounds))
    return samples


def _figure(name: str, what: str, bound: float, samples: Samples, side: str, baseline: str = "bare") -> Figure:
    rate = {one: f"{1 / statistics.median(taken['seconds']):.0f}/s" for one, taken in samples.items()}
    cpu = {one: milliseconds(statistics.median(taken["cpu"])) for one, taken in samples.items()}
    return Figure(
        name=name,
        what=what,
        unit="x",
        limit="at least",
        bound=bound,
        # Seconds an append: the other way round they are appends a second.
        samples=ratios(samples, baseline, side),
        product=rate[side],
        baseline=rate[baseline],
        notes=(
            f"CPU of this process: {cpu[side]} / {cpu[baseline]}",
            "; ".join(f"{one}: {rate[one]}" for one in ("bare", "from_bytes", "alone", "one_writer")),
        ),
    )
