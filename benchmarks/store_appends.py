"""Times appends to the embedded store; run by its row in the function's own environment.

``FOLDER ROUNDS`` prints samples as JSON, one value a round, of a 10-turn capture of a new session: from the bytes of
its write (``from_bytes``), the reading of these (``read``) and the append of what was read (``alone``), all of it
through the WSGI application (``app``); and writing and syncing the same bytes (``written``).
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.envelopes import TenTurns
from benchmarks.pairs import Act, Samples, in_turn
from benchmarks.stores import appending, posting, read
from store.urls import open_store

_APPENDS_A_ROUND = 50


def appends(folder: Path, rounds: int) -> Samples:
    """All sides into one store, as they would come."""
    writes = TenTurns(seed=11)
    store = open_store(f"sqlite:///{folder / 'store.db'}")
    append, post = appending(store), posting(store)
    descriptor = os.open(folder / "written", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def written(body: bytes) -> None:
        os.write(descriptor, body)
        os.fdatasync(descriptor)

    def each(act: Callable[[bytes], object]) -> Callable[[], Act]:
        def made() -> Act:
            bodies = writes.many(_APPENDS_A_ROUND)
            return lambda: [act(body) for body in bodies]

        return made

    def alone() -> Act:
        submissions = [read(body) for body in writes.many(_APPENDS_A_ROUND)]
        return lambda: [append(submission) for submission in submissions]

    sides = {
        "written": each(written),
        "from_bytes": each(lambda body: append(read(body))),
        "alone": alone,
        "app": each(post),
        "read": each(read),
    }
    samples = in_turn(sides, rounds=rounds, count=_APPENDS_A_ROUND)
    store.close()
    os.close(descriptor)
    return samples


def profile(folder: Path, count: int) -> None:
    """Where the time of an append goes, by function: ``python -m benchmarks.store_appends profile FOLDER COUNT``."""
    import cProfile
    import pstats

    store = open_store(f"sqlite:///{folder / 'profiled.db'}")
    append = appending(store)
    bodies = iter(TenTurns(seed=12).many(2 * count))
    for body in itertools.islice(bodies, count):
        append(read(body))
    profiler = cProfile.Profile()
    profiler.enable()
    for body in bodies:
        append(read(body))
    profiler.disable()
    store.close()
    pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(45)


if __name__ == "__main__":
    if sys.argv[1] == "profile":
        profile(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        print(json.dumps(appends(Path(sys.argv[1]), int(sys.argv[2]))))
