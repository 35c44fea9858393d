"""From the start of the host to its first answer, against a trivial function's first answer.

Two first answers: one that needs no store, and the first captured conversation.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.figure import Figure, milliseconds
from benchmarks.host import function_host
from benchmarks.payloads import Variations, compact, conversation
from benchmarks.peers import Stub, stub_store
from benchmarks.rows import Stage


class Start(NamedTuple):
    """Seconds from the start of the process to the first answer, and the CPU seconds of all its processes."""

    took_s: float
    cpu_s: float


def run(stage: Stage) -> list[Figure]:
    """Starts of all three in turn; each round begins with another one."""
    bodies = Variations(compact(conversation()), seed=1)
    with stub_store() as store:
        sides: dict[str, Callable[[], Start]] = {
            "description": lambda: _started(stage, store, "function", "GET", "/openapi.json"),
            "capture": lambda: _started(stage, store, "function", "POST", "/", bodies.next()),
            "trivial": lambda: _started(stage, store, "trivial", "GET", "/"),
        }
        taken = _in_turn(sides, stage.rounds(20, 6))
    description = "first answer that needs no store (/openapi.json)"
    return [
        _figure("cold-start-description", description, 1.15, taken["description"], taken["trivial"]),
        _figure("cold-start", "first captured conversation", 1.3, taken["capture"], taken["trivial"]),
    ]


def _in_turn(sides: dict[str, Callable[[], Start]], rounds: int) -> dict[str, list[Start]]:
    taken: dict[str, list[Start]] = {name: [] for name in sides}
    for start in sides.values():
        start()  # the files are in the page cache from here on, for all
    order = list(sides)
    for _ in range(rounds):
        order.append(order.pop(0))
        for name in order:
            taken[name].append(sides[name]())
    return taken


def _started(stage: Stage, store: Stub, source: str, method: str, path: str, body: bytes | None = None) -> Start:
    with function_host(stage.runtime, source, {"RUVECTOR_SERVICE_URL": store.url}) as host:
        status, _ = host.request(method, path, body)
        start = Start(time.perf_counter() - host.started_at, host.cpu_seconds())
    if status != 200:
        raise RuntimeError(f"{source} answered its first {method} {path} with {status}")
    return start


def _figure(name: str, what: str, bound: float, product: list[Start], baseline: list[Start]) -> Figure:
    cpu = [ours.cpu_s / theirs.cpu_s for ours, theirs in zip(product, baseline, strict=True)]
    return Figure(
        name=name,
        what=f"process start to the {what} / to the first answer of a trivial function",
        unit="x",
        limit="at most",
        bound=bound,
        samples=tuple(ours.took_s / theirs.took_s for ours, theirs in zip(product, baseline, strict=True)),
        product=milliseconds(statistics.median(start.took_s for start in product)),
        baseline=milliseconds(statistics.median(start.took_s for start in baseline)),
        notes=(
            f"fastest: {milliseconds(min(product).took_s)} / {milliseconds(min(baseline).took_s)}",
            f"ratio of the CPU that all processes of the host took: {statistics.median(cpu):.2f}",
        ),
    )
