"""Rounds of load on warm hosts: every round all of them in turn, another one first."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Mapping

from benchmarks.figure import milliseconds
from benchmarks.host import FunctionHost
from benchmarks.peers import Load, LoadGenerator

_WARM_UP = 200


@dataclasses.dataclass(frozen=True, slots=True)
class Side:
    """A host that is loaded, the headers that its requests carry, and every load that it had."""

    host: FunctionHost
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    loads: list[Load] = dataclasses.field(default_factory=list)
    cpu_s: list[float] = dataclasses.field(default_factory=list)

    def load(self, generator: LoadGenerator, *, count: int, connections: int) -> None:
        """Post ``count`` captures, and keep what the generator saw, and the host's processor time of one."""
        before = self.host.cpu_seconds()
        load = generator.post(self.host.port, count=count, connections=connections, headers=self.headers)
        self.loads.append(load)
        self.cpu_s.append((self.host.cpu_seconds() - before) / count)

    def median(self, value: Callable[[Load], float]) -> float:
        """The median over the loads."""
        return statistics.median(value(load) for load in self.loads)

    def shown(self) -> str:
        """Rate, processor time and latencies, for people."""
        return (
            f"{self.median(lambda load: load.per_second):.0f}/s, "
            f"host CPU of one {milliseconds(statistics.median(self.cpu_s))}, "
            f"p50 {milliseconds(self.median(lambda load: load.p50_s))}, "
            f"p99 {milliseconds(self.median(lambda load: load.p99_s))}"
        )


def warm_up(
    host: FunctionHost, generator: LoadGenerator, *, connections: int, headers: Mapping[str, str] | None = None
) -> None:
    """Bring the host to where it stays: nothing of this is kept."""
    host.await_ready()
    generator.post(host.port, count=_WARM_UP, connections=connections, headers=headers)


def in_turn(sides: list[Side], generator: LoadGenerator, *, rounds: int, count: int, connections: int) -> None:
    """Warm all ``sides`` up, then load them round by round."""
    for side in sides:
        warm_up(side.host, generator, connections=connections, headers=side.headers)
    order = list(sides)
    for _ in range(rounds):
        order.append(order.pop(0))
        for side in order:
            side.load(generator, count=count, connections=connections)


def ratios(side: Side, other: Side, value: Callable[[Load], float]) -> tuple[float, ...]:
    """``side`` / ``other``, round by round."""
    return tuple(value(mine) / value(theirs) for mine, theirs in zip(side.loads, other.loads, strict=True))
