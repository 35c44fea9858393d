"""What a capture costs the warm host, in CPU and in captures a second, against parsing and hashing only."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Iterator
from typing import TypeVar

from benchmarks.figure import Figure, milliseconds
from benchmarks.host import FunctionHost, function_host
from benchmarks.peers import Load, LoadGenerator, StubStore, load_generator, stub_store
from benchmarks.rows import Stage

_CONCURRENCY = 8
_WARM_UP = 200
_Side = TypeVar("_Side")


def run_cpu(stage: Stage) -> list[Figure]:
    """CPU (user and system, all processes of the host) of one ten-turn capture on one keep-alive connection."""
    count, rounds = 300, stage.rounds(14, 4)
    product: list[float] = []
    baseline: list[float] = []
    with _warm_hosts(stage) as (ours, theirs, generator, _):
        for place in range(rounds):
            for host, taken in _in_turn(place, (ours, product), (theirs, baseline)):
                before = host.cpu_seconds()
                generator.post(host.port, count=count, connections=1)
                taken.append((host.cpu_seconds() - before) / count)
    return [
        Figure(
            name="request-cpu",
            what="host CPU of one 10-turn capture of 6.4 KB / of parsing (jiter), hashing and answering it",
            unit="x",
            limit="at most",
            bound=2.5,
            samples=tuple(mine / other for mine, other in zip(product, baseline, strict=True)),
            product=milliseconds(statistics.median(product)),
            baseline=milliseconds(statistics.median(baseline)),
            notes=(f"{rounds} rounds of {count} captures each, every capture under new ids",),
        )
    ]


def run_throughput(stage: Stage) -> list[Figure]:
    """Captures a second at concurrency 8, into a store that answers at once."""
    count, rounds = 1000, stage.rounds(12, 4)
    product: list[Load] = []
    baseline: list[Load] = []
    with _warm_hosts(stage) as (ours, theirs, generator, store):
        stored, host_cpu, their_cpu = store.cpu_seconds(), ours.cpu_seconds(), theirs.cpu_seconds()
        for place in range(rounds):
            for host, loads in _in_turn(place, (ours, product), (theirs, baseline)):
                loads.append(generator.post(host.port, count=count, connections=_CONCURRENCY))
        stored = store.cpu_seconds() - stored
        host_cpu, their_cpu = ours.cpu_seconds() - host_cpu, theirs.cpu_seconds() - their_cpu
    wall = sum(load.elapsed_s for load in product)
    shares = [seconds / wall for seconds in (host_cpu, sum(load.cpu_s for load in product), stored)]
    their_share = sum(load.cpu_s for load in baseline) / sum(load.elapsed_s for load in baseline)
    return [
        Figure(
            name="throughput",
            what=f"captures a second at concurrency {_CONCURRENCY} / the same host parsing and hashing only (aim 0.5)",
            unit="x",
            limit="at least",
            bound=0.45,
            samples=tuple(mine.per_second / other.per_second for mine, other in zip(product, baseline, strict=True)),
            product=f"{statistics.median(load.per_second for load in product):.0f}/s",
            baseline=f"{statistics.median(load.per_second for load in baseline):.0f}/s",
            notes=(
                "cores taken: host {:.2f}, load generator {:.2f}, stub store {:.2f}".format(*shares)
                + f"; on the baseline's side load generator {their_share:.2f}",
                "host CPU of one: {} / {}".format(
                    *(milliseconds(cpu / rounds / count) for cpu in (host_cpu, their_cpu))
                ),
                f"latency p50: {_median(product, 'p50_s')} / {_median(baseline, 'p50_s')}",
                f"latency p99: {_median(product, 'p99_s')} / {_median(baseline, 'p99_s')}",
            ),
        )
    ]


@contextlib.contextmanager
def _warm_hosts(stage: Stage) -> Iterator[tuple[FunctionHost, FunctionHost, LoadGenerator, StubStore]]:
    with (
        stub_store() as store,
        load_generator() as generator,
        function_host(stage.runtime, "function", {"RUVECTOR_SERVICE_URL": store.url}) as ours,
        function_host(stage.runtime, "baseline") as theirs,
    ):
        for host in (ours, theirs):
            host.await_ready()
            generator.post(host.port, count=_WARM_UP, connections=_CONCURRENCY)
        yield ours, theirs, generator, store


def _in_turn(place: int, first: _Side, second: _Side) -> tuple[_Side, _Side]:
    # The one that goes first changes with every round, so that neither always meets the other's leftovers.
    return (second, first) if place % 2 else (first, second)


def _median(loads: list[Load], field: str) -> str:
    return milliseconds(statistics.median(getattr(load, field) for load in loads))
