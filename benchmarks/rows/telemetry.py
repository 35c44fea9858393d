"""What telemetry adds to an answer: the same function with and without a collector to export to, in turn."""

from __future__ import annotations

from benchmarks.figure import Figure, milliseconds
from benchmarks.host import function_host
from benchmarks.loads import Side, in_turn
from benchmarks.peers import load_generator, stub_collector, stub_store
from benchmarks.rows import Stage

_CAPTURES = 400


def run(stage: Stage) -> list[Figure]:
    """Milliseconds at the median: of one caller, and of four that keep the host busy, which is reported."""
    return [_figure(stage, connections, stage.rounds(14, 4), bound) for connections, bound in ((1, 4.0), (4, None))]


def _figure(stage: Stage, connections: int, rounds: int, bound: float | None) -> Figure:
    with (
        stub_store() as store,
        stub_collector() as collector,
        load_generator() as generator,
        function_host(
            stage.runtime, "function", {"RUVECTOR_SERVICE_URL": store.url, "LLM_OBSERVATORY_URL": collector.url}
        ) as watched,
        function_host(stage.runtime, "function", {"RUVECTOR_SERVICE_URL": store.url}) as alone,
    ):
        on, off = Side(watched), Side(alone)
        in_turn([on, off], generator, rounds=rounds, count=_CAPTURES, connections=connections)
        exported = collector.counts()
    if not exported.get("traces"):
        raise RuntimeError("no span reached the collector: the figure would be about something else")
    captures = _CAPTURES * rounds
    return Figure(
        name=f"telemetry-{connections}",
        what=f"what telemetry with a local collector adds to an answer, p50, concurrency {connections}",
        unit="ms",
        limit="at most",
        bound=bound,
        samples=tuple((mine.p50_s - other.p50_s) * 1000 for mine, other in zip(on.loads, off.loads, strict=True)),
        product=milliseconds(on.median(lambda load: load.p50_s)),
        baseline=milliseconds(off.median(lambda load: load.p50_s)),
        notes=(
            f"with: {on.shown()}",
            f"without: {off.shown()}",
            f"exports: {exported['traces']} of spans, {exported.get('metrics', 0)} of metrics; {captures} captures",
        ),
    )
