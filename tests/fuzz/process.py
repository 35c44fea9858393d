"""What one process of an hour's run does. A module of its own, since what is spawned finds no ``__main__``."""

from __future__ import annotations

from collections.abc import Sequence

from tests.fuzz.engine import Run, fuzzed
from tests.fuzz.targets import OF_AN_HOUR


def fuzzed_for(names: Sequence[str], seed: int, seconds: float) -> list[Run]:
    """The targets one after another, each for its share of ``seconds``; each run is printed when it ends."""
    targets = [OF_AN_HOUR[name]() for name in names]
    shares = sum(target.share for target in targets)
    runs = []
    for target in targets:
        run = fuzzed(target, seed=seed, seconds=seconds * target.share / shares)
        print(run, flush=True)
        runs.append(run)
    return runs
