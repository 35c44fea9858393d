"""From the start of the host to the first captured conversation, against a trivial function's first answer."""

from __future__ import annotations

import statistics
import time
from typing import NamedTuple

from benchmarks.figure import Figure, milliseconds
from benchmarks.host import function_host
from benchmarks.payloads import Variations, compact, conversation
from benchmarks.peers import StubStore, stub_store
from benchmarks.rows import Stage


def run(stage: Stage) -> list[Figure]:
    bodies = Variations(compact(conversation()), seed=1)
    product: list[Start] = []
    baseline: list[Start] = []
    with stub_store() as store:
        _first_capture(stage, store, bodies.next())  # the files are in the page cache from here on, for both
        _first_answer(stage)
        for place in range(stage.rounds(20, 6)):
            if place % 2:
                baseline.append(_first_answer(stage))
            product.append(_first_capture(stage, store, bodies.next()))
            if not place % 2:
                baseline.append(_first_answer(stage))
    cpu = [ours.cpu_s / theirs.cpu_s for ours, theirs in zip(product, baseline, strict=True)]
    return [
        Figure(
            name="cold-start",
            what="process start to the first captured conversation / to the first answer of a trivial function",
            unit="x",
            limit="at most",
            bound=1.3,
            samples=tuple(ours.took_s / theirs.took_s for ours, theirs in zip(product, baseline, strict=True)),
            product=milliseconds(statistics.median(start.took_s for start in product)),
            baseline=milliseconds(statistics.median(start.took_s for start in baseline)),
            notes=(
                f"fastest: {milliseconds(min(product).took_s)} / {milliseconds(min(baseline).took_s)}",
                f"ratio of the CPU that all processes of the host took: {statistics.median(cpu):.2f}",
            ),
        )
    ]


class Start(NamedTuple):
    """Seconds from the start of the process to the first answer, and the CPU seconds of all its processes."""

    took_s: float
    cpu_s: float


def _first_capture(stage: Stage, store: StubStore, body: bytes) -> Start:
    with function_host(stage.runtime, "function", {"RUVECTOR_SERVICE_URL": store.url}) as host:
        status, _ = host.request("POST", "/", body)
        start = Start(time.perf_counter() - host.started_at, host.cpu_seconds())
    if status != 200:
        raise RuntimeError(f"the first capture was answered {status}")
    return start


def _first_answer(stage: Stage) -> Start:
    with function_host(stage.runtime, "trivial") as host:
        status, _ = host.request("GET", "/")
        start = Start(time.perf_counter() - host.started_at, host.cpu_seconds())
    if status != 200:
        raise RuntimeError(f"the trivial function answered {status}")
    return start
