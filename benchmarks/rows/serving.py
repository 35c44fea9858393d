"""What a capture costs the warm host in processor time, against parsing and hashing only."""

from __future__ import annotations

import statistics

from benchmarks.figure import Figure, milliseconds
from benchmarks.host import function_host
from benchmarks.loads import Side, in_turn
from benchmarks.peers import load_generator, stub_store
from benchmarks.rows import Stage


def run(stage: Stage) -> list[Figure]:
    """CPU (user and system, all processes of the host) of one ten-turn capture on one keep-alive connection."""
    count, rounds = 300, stage.rounds(14, 4)
    with (
        stub_store() as store,
        load_generator() as generator,
        function_host(stage.runtime, "function", {"RUVECTOR_SERVICE_URL": store.url}) as host,
        function_host(stage.runtime, "baseline") as bare,
    ):
        ours, theirs = Side(host), Side(bare)
        in_turn([ours, theirs], generator, rounds=rounds, count=count, connections=1)
    return [
        Figure(
            name="request-cpu",
            what="host CPU of one 10-turn capture of 6.4 KB / of parsing (jiter), hashing and answering it",
            unit="x",
            limit="at most",
            bound=2.5,
            samples=tuple(mine / other for mine, other in zip(ours.cpu_s, theirs.cpu_s, strict=True)),
            product=milliseconds(statistics.median(ours.cpu_s)),
            baseline=milliseconds(statistics.median(theirs.cpu_s)),
            notes=(f"{rounds} rounds of {count} captures each, every capture under new ids",),
        )
    ]
