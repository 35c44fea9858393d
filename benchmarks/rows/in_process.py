"""The rows measured inside one process, without the host: the embedded store, and how the cost grows with the turns."""

from __future__ import annotations

import statistics

from benchmarks.figure import Figure, milliseconds
from benchmarks.peers import stub_store
from benchmarks.process import filesystem
from benchmarks.rows import Stage
from benchmarks.scripts import run_script


def run_embedded(stage: Stage) -> list[Figure]:
    """A whole capture into the embedded store, against the least that makes the same bytes durable."""
    folder = stage.folder / "embedded"
    folder.mkdir()
    measured = run_script(stage, "benchmarks.captures", "embedded", str(folder), str(stage.rounds(40, 10)))
    product, baseline = measured["product"], measured["baseline"]
    return [
        Figure(
            name="embedded",
            what="whole in-process capture into the embedded store / parse + SHA-256 + append + fdatasync",
            unit="x",
            limit="at most",
            bound=2.5,
            samples=tuple(mine / other for mine, other in zip(product, baseline, strict=True)),
            product=milliseconds(statistics.median(product)),
            baseline=milliseconds(statistics.median(baseline)),
            notes=(
                f"on {filesystem(folder)}",
                f"CPU alone: {milliseconds(measured['product_cpu'])} / {milliseconds(measured['baseline_cpu'])}",
            ),
        )
    ]


def run_growth(stage: Stage) -> list[Figure]:
    """CPU per turn of one capture with 10 000 turns, against captures of 100 turns; both kinds of store.

    CPU, not the time on the wall: a capture of 10 000 turns is long enough to be interrupted, one of 100 is not.
    """
    figures = []
    with stub_store() as store:
        for kind, address in (("http", store.url), ("embedded", f"embedded:{stage.folder / 'growth.db'}")):
            measured = run_script(stage, "benchmarks.captures", "growth", address, str(stage.rounds(9, 3)))
            large, small = measured["large"]["cpu"], measured["small"]["cpu"]
            waited = [statistics.median(measured[side]["seconds"]) for side in ("large", "small")]
            figures.append(
                Figure(
                    name=f"growth-{kind}",
                    what=f"CPU per turn at 10 000 turns / at 100 turns in one capture, {kind} store",
                    unit="x",
                    limit="at most",
                    bound=1.3,
                    samples=tuple(mine / other for mine, other in zip(large, small, strict=True)),
                    product=milliseconds(statistics.median(large)),
                    baseline=milliseconds(statistics.median(small)),
                    notes=(f"with what was waited for: {milliseconds(waited[0])} / {milliseconds(waited[1])}",),
                )
            )
    return figures
