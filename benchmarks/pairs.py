"""Times several ways to do the same thing in turn: each round all of them, and each round another one first."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

from benchmarks.figure import Figure, milliseconds

Samples = dict[str, dict[str, list[float]]]
Act = Callable[[], object]


def in_turn(sides: Mapping[str, Callable[[], Act]], *, rounds: int, count: int) -> Samples:
    """Seconds and CPU seconds of this process for one of the ``count`` things that an act does, one value a round.

    A side makes its act anew for each round, before its time is taken. The first round warms caches and is not kept.
    """
    samples: Samples = {name: {"seconds": [], "cpu": []} for name in sides}
    order = list(sides)
    for place in range(-1, rounds):
        order.append(order.pop(0))
        for name in order:
            act = sides[name]()
            started, cpu_started = time.perf_counter(), time.process_time()
            act()
            cpu, elapsed = time.process_time() - cpu_started, time.perf_counter() - started
            if place >= 0:
                samples[name]["seconds"].append(elapsed / count)
                samples[name]["cpu"].append(cpu / count)
    return samples


def ratios(samples: Samples, product: str, baseline: str, kind: str = "seconds") -> tuple[float, ...]:
    """Product / baseline, round by round."""
    return tuple(mine / other for mine, other in zip(samples[product][kind], samples[baseline][kind], strict=True))


def at_most(name: str, what: str, bound: float, samples: Samples, sides: tuple[str, str], *notes: str) -> Figure:
    """How many times its baseline the product takes, in seconds; ``sides`` are the two by name."""
    product, baseline = (milliseconds(statistics.median(samples[side]["seconds"])) for side in sides)
    return Figure(
        name=name,
        what=what,
        unit="x",
        limit="at most",
        bound=bound,
        samples=ratios(samples, *sides),
        product=product,
        baseline=baseline,
        notes=notes,
    )
