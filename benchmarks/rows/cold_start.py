"""From the start of the host to the first captured conversation, against a trivial function's first answer."""

from __future__ import annotations

import statistics
import time

from benchmarks.figure import Figure, milliseconds
from benchmarks.host import function_host
from benchmarks.payloads import Variations, compact, conversation
from benchmarks.peers import StubStore, stub_store
from benchmarks.rows import Stage


def run(stage: Stage) -> list[Figure]:
    bodies = Variations(compact(conversation()), seed=1)
    product, baseline = [], []
    with stub_store() as store:
        _first_capture(stage, store, bodies.next())  # the files are in the page cache from here on, for both
        _first_answer(stage)
        for place in range(stage.rounds(20, 6)):
            if place % 2:
                baseline.append(_first_answer(stage))
            product.append(_first_capture(stage, store, bodies.next()))
            if not place % 2:
                baseline.append(_first_answer(stage))
    return [
        Figure(
            name="cold-start",
            what="process start to the first captured conversation / to the first answer of a trivial function",
            unit="x",
            limit="at most",
            bound=1.3,
            samples=tuple(ours / theirs for ours, theirs in zip(product, baseline, strict=True)),
            product=milliseconds(statistics.median(product)),
            baseline=milliseconds(statistics.median(baseline)),
            notes=(f"fastest of {len(product)}: {milliseconds(min(product))} / {milliseconds(min(baseline))}",),
        )
    ]


def _first_capture(stage: Stage, store: StubStore, body: bytes) -> float:
    with function_host(stage.runtime, "function", {"RUVECTOR_SERVICE_URL": store.url}) as host:
        status, _ = host.request("POST", "/", body)
        took = time.perf_counter() - host.started_at
    if status != 200:
        raise RuntimeError(f"the first capture was answered {status}")
    return took


def _first_answer(stage: Stage) -> float:
    with function_host(stage.runtime, "trivial") as host:
        status, _ = host.request("GET", "/")
        took = time.perf_counter() - host.started_at
    if status != 200:
        raise RuntimeError(f"the trivial function answered {status}")
    return took
