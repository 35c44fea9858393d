"""The function under our worker, which lets slow clients wait without a thread, against the server's own worker."""

from __future__ import annotations

import statistics

from benchmarks.figure import Figure, milliseconds
from benchmarks.host import DEPLOYED_THREADS, function_host
from benchmarks.loads import Side, in_turn, ratios
from benchmarks.peers import Load, load_generator, stub_store
from benchmarks.rows import Stage

_CONCURRENCY = 8
_CAPTURES = 500


def run(stage: Stage) -> list[Figure]:
    """What a capture costs and how long it takes for one caller, then the rate at which eight are answered."""
    rounds = stage.rounds(14, 4)
    with (
        stub_store() as store,
        load_generator() as generator,
        function_host(stage.runtime, "function", {"RUVECTOR_SERVICE_URL": store.url}) as host,
        function_host(stage.runtime, "servers_worker", {"RUVECTOR_SERVICE_URL": store.url}) as bare,
    ):
        one, eight = (Side(host), Side(bare)), (Side(host), Side(bare))
        for sides, connections in ((one, 1), (eight, _CONCURRENCY)):
            in_turn([*sides], generator, rounds=rounds, count=_CAPTURES, connections=connections)
    return [_cpu(*one), _wait(*one), _rate(*eight)]


def _cpu(ours: Side, theirs: Side) -> Figure:
    return Figure(
        name="worker-cpu",
        what="host CPU of one 10-turn capture, one caller / of the same function under the server's own worker",
        unit="x",
        limit="at most",
        bound=1.05,
        samples=tuple(mine / other for mine, other in zip(ours.cpu_s, theirs.cpu_s, strict=True)),
        product=milliseconds(statistics.median(ours.cpu_s)),
        baseline=milliseconds(statistics.median(theirs.cpu_s)),
    )


def _wait(ours: Side, theirs: Side) -> Figure:
    def p50_s(load: Load) -> float:
        return load.p50_s

    return Figure(
        name="worker-wait",
        what="p50 of a capture, one caller / the same",
        unit="x",
        limit="at most",
        bound=1.05,
        samples=ratios(ours, theirs, p50_s),
        product=milliseconds(ours.median(p50_s)),
        baseline=milliseconds(theirs.median(p50_s)),
    )


def _rate(ours: Side, theirs: Side) -> Figure:
    def per_second(load: Load) -> float:
        return load.per_second

    return Figure(
        name="worker-rate",
        what=f"captures a second at concurrency {_CONCURRENCY}, {DEPLOYED_THREADS} threads / the same",
        unit="x",
        limit="at least",
        bound=0.95,
        samples=ratios(ours, theirs, per_second),
        product=f"{ours.median(per_second):.0f}/s",
        baseline=f"{theirs.median(per_second):.0f}/s",
        notes=(f"ours: {ours.shown()}", f"the server's own: {theirs.shown()}"),
    )
