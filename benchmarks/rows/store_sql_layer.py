"""What SQLAlchemy Core would cost the store, against the bare drivers: the figure behind docs/adr/0009.

A missed bound here means that the record has lost its reason, not that the store has become slow.
"""

from __future__ import annotations

import statistics

from benchmarks.figure import Figure, milliseconds
from benchmarks.pairs import Samples, ratios
from benchmarks.postgres import postgres
from benchmarks.process import filesystem
from benchmarks.rows import Stage
from benchmarks.scripts import run_script

_LAYERS = {"core": "Core over Table objects", "driver_sql": "exec_driver_sql"}


def run(stage: Stage) -> list[Figure]:
    """Statements of one append and of one page through three layers, on both engines; then what loading them costs."""
    folder = stage.folder / "sql-layer"
    for name in ("append", "page"):
        (folder / name).mkdir(parents=True)
    figures = [_figure(stage, "sqlite", str(folder / "append"), str(folder / "page"), f"on {filesystem(folder)}")]
    with postgres(stage.folder / "sql-layer-postgresql") as url:
        figures.append(_figure(stage, "postgresql", url, url, "over a Unix socket"))
    return [*figures, _memory(stage)]


def _figure(stage: Stage, engine: str, appends: str, pages: str, where: str) -> Figure:
    append = _samples(stage, "append", appends, str(stage.rounds(40, 8)))
    page = _samples(stage, "page", pages, str(stage.rounds(20, 5)))
    return Figure(
        name=f"sql-layer-{engine}",
        what="statements of one 10-turn append through SQLAlchemy Core / through the bare driver",
        unit="x",
        limit="at least",
        bound=1.15,
        samples=ratios(append, "core", "bare"),
        product=milliseconds(statistics.median(append["core"]["seconds"])),
        baseline=milliseconds(statistics.median(append["bare"]["seconds"])),
        notes=(
            where,
            *(f"{name}: {_compared(append, layer)}" for layer, name in _LAYERS.items()),
            *(f"1 000 rows of turns, {name}: {_compared(page, layer)}" for layer, name in _LAYERS.items()),
        ),
    )


def _memory(stage: Stage) -> Figure:
    samples = _samples(stage, "start", str(stage.rounds(15, 5)))
    pairs = (("sqlite3", "sqlalchemy"), ("psycopg", "psycopg-sqlalchemy"))
    added = [_added(samples, *pair, "kib") for pair in pairs]
    seconds = [statistics.median(_added(samples, *pair, "seconds")) for pair in pairs]
    resident = [statistics.median(samples[name]["kib"]) * 1024 / 1e6 for name in ("sqlalchemy", "sqlite3")]
    return Figure(
        name="sql-layer-memory",
        what="resident memory that SQLAlchemy adds to a fresh process that has loaded sqlite3",
        unit="MB",
        limit="at least",
        bound=10,
        samples=tuple(kib * 1024 / 1e6 for kib in added[0]),
        product=f"{resident[0]:.1f} MB",
        baseline=f"{resident[1]:.1f} MB",
        notes=(
            f"to one that has loaded psycopg: {statistics.median(added[1]) * 1024 / 1e6:.1f} MB",
            f"time to load it: {milliseconds(seconds[0])} beside sqlite3, {milliseconds(seconds[1])} beside psycopg",
            f"sqlite3 itself: {milliseconds(statistics.median(samples['sqlite3']['seconds']))}",
        ),
    )


def _samples(stage: Stage, *arguments: str) -> Samples:
    answer: Samples = run_script(stage, "benchmarks.sql_layer", *arguments)
    return answer


def _compared(samples: Samples, layer: str) -> str:
    taken, cpu = (statistics.median(ratios(samples, layer, "bare", kind)) for kind in ("seconds", "cpu"))
    more = statistics.median(samples[layer]["cpu"]) - statistics.median(samples["bare"]["cpu"])
    return f"{taken:.2f} of the time, {cpu:.2f} of the client's CPU ({milliseconds(more)} more)"


def _added(samples: Samples, without: str, with_it: str, kind: str) -> list[float]:
    return [mine - bare for mine, bare in zip(samples[with_it][kind], samples[without][kind], strict=True)]
