"""Captures a second into a store that answers at once, against the same host parsing and hashing only."""

from __future__ import annotations

from benchmarks.figure import Figure
from benchmarks.host import DEPLOYED_THREADS, function_host
from benchmarks.loads import Side, in_turn, ratios
from benchmarks.peers import Load, load_generator, stub_collector, stub_store
from benchmarks.rows import Stage

_CONCURRENCIES = (8, 32)
_KEY = "k-benchmark-0123456789"
_BOUND = 0.45
_CAPTURES = 1000


def run(stage: Stage) -> list[Figure]:
    """Telemetry off, and with telemetry and caller keys on; both at each concurrency."""
    figures = []
    for concurrency in _CONCURRENCIES:
        figures += _figures(stage, concurrency, stage.rounds(12, 4))
    return figures


def _figures(stage: Stage, concurrency: int, rounds: int) -> list[Figure]:
    with (
        stub_store() as store,
        stub_collector() as collector,
        load_generator() as generator,
        function_host(stage.runtime, "function", {"RUVECTOR_SERVICE_URL": store.url}) as host,
        function_host(stage.runtime, "baseline") as bare,
        function_host(
            stage.runtime,
            "function",
            {"RUVECTOR_SERVICE_URL": store.url, "LLM_OBSERVATORY_URL": collector.url, "CAPTURE_API_KEYS": _KEY},
        ) as watched,
    ):
        ours, theirs = Side(host), Side(bare)
        everything = Side(watched, {"Authorization": f"Bearer {_KEY}"})
        in_turn([ours, theirs, everything], generator, rounds=rounds, count=_CAPTURES, connections=concurrency)
        exported = collector.counts()
    if not exported.get("traces"):
        raise RuntimeError("no span reached the collector: the figure would be about something else")
    what = f"captures a second at concurrency {concurrency}, {DEPLOYED_THREADS} threads / parsing and hashing only"
    return [
        _figure(f"throughput-{concurrency}", f"{what}; telemetry off, content full (aim 0.5)", _BOUND, ours, theirs),
        _figure(
            f"throughput-{concurrency}-everything",
            f"{what}; telemetry to a collector, caller keys",
            None,
            everything,
            theirs,
            f"{exported['traces']} exports of spans, {exported.get('metrics', 0)} of metrics",
        ),
    ]


def _figure(name: str, what: str, bound: float | None, ours: Side, theirs: Side, *notes: str) -> Figure:
    def rate(load: Load) -> float:
        return load.per_second

    wall = sum(load.elapsed_s for load in ours.loads)
    generator = sum(load.cpu_s for load in ours.loads) / wall
    host = sum(ours.cpu_s) * _CAPTURES / wall
    return Figure(
        name=name,
        what=what,
        unit="x",
        limit="at least",
        bound=bound,
        samples=ratios(ours, theirs, rate),
        product=f"{ours.median(rate):.0f}/s",
        baseline=f"{theirs.median(rate):.0f}/s",
        notes=(
            f"ours: {ours.shown()}",
            f"baseline: {theirs.shown()}",
            f"cores taken: host {host:.2f}, load generator {generator:.2f}",
            *notes,
        ),
    )
