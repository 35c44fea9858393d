"""The slowest answers of a host that is busy but not overloaded, at a rate that does not wait for them.

The generator sends at fixed instants, evenly spaced, and a latency counts from the instant at which its request was
due, so that a stall of the host is not left out of the figure by a generator that stalls with it.
"""

from __future__ import annotations

import statistics

from benchmarks.figure import Figure, milliseconds
from benchmarks.host import DEPLOYED_THREADS, FunctionHost, function_host
from benchmarks.loads import warm_up
from benchmarks.peers import Load, LoadGenerator, load_generator, stub_store
from benchmarks.rows import Stage

_SHARE = 0.8
_CLOSED_LOOP = 8
# More than are ever busy at once, so that a request that is due is sent.
_CONNECTIONS = 64


def run(stage: Stage) -> list[Figure]:
    """p99 / p50 at 80 % of the rate that the host sustains, which is found first, in the same run."""
    rounds, captures = stage.rounds(9, 3), stage.rounds(2000, 500)
    product: list[Load] = []
    baseline: list[Load] = []
    with (
        stub_store() as store,
        load_generator() as generator,
        function_host(stage.runtime, "function", {"RUVECTOR_SERVICE_URL": store.url}) as ours,
        function_host(stage.runtime, "baseline") as theirs,
    ):
        rates = {}
        for host in (ours, theirs):
            warm_up(host, generator, connections=_CLOSED_LOOP)
            rates[host] = _sustained(host, generator, stage.rounds(5, 3))
        sides = [(ours, product), (theirs, baseline)]
        for place in range(rounds):
            for host, loads in sides if place % 2 else reversed(sides):
                rate = _SHARE * rates[host]
                loads.append(generator.post(host.port, count=captures, connections=_CONNECTIONS, per_second=rate))
    return [_figure(product, baseline, rates[ours], captures)]


def _sustained(host: FunctionHost, generator: LoadGenerator, rounds: int) -> float:
    """Captures a second when each of eight callers posts as fast as it is answered: the median of a few rounds."""
    loads = [generator.post(host.port, count=1000, connections=_CLOSED_LOOP) for _ in range(rounds)]
    return statistics.median(load.per_second for load in loads)


def _figure(loads: list[Load], baseline: list[Load], sustained: float, captures: int) -> Figure:
    theirs = statistics.median(load.p99_s / load.p50_s for load in baseline)
    reached = statistics.median(load.per_second for load in loads)
    rates = f"sustained {sustained:.0f}/s at concurrency {_CLOSED_LOOP}; sent {_SHARE * sustained:.0f}/s"
    return Figure(
        name="latency-tail",
        what=f"p99 / p50 of captures at 80 % of the sustained rate, open loop, {DEPLOYED_THREADS} threads",
        unit="x",
        limit="at most",
        bound=4,
        samples=tuple(load.p99_s / load.p50_s for load in loads),
        product=milliseconds(statistics.median(load.p99_s for load in loads)),
        baseline=milliseconds(statistics.median(load.p50_s for load in loads)),
        notes=(
            f"{rates} over {_CONNECTIONS} connections, answered {reached:.0f}/s",
            f"{len(loads)} rounds of {captures} captures",
            f"the host that parses and hashes only, at 80 % of its own rate: {theirs:.2f}",
        ),
    )
