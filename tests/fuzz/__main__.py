"""``python -m tests.fuzz [--write] [TARGET...]``: fuzz for FUZZ_SECONDS (3600) in all, in two processes.

``python -m tests.fuzz --look TARGET FILE`` looks at one saved input, and lets what it raises through.
FUZZ_SEED says which inputs (random, and printed); the second process takes the next seed. ``--write`` puts the table
into docs/security/fuzzing.md. The exit code is 1 where something was found.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from tests.fuzz.process import fuzzed_for
from tests.fuzz.report import markdown, put_between_markers
from tests.fuzz.targets import OF_AN_HOUR

PROCESSES = 2


def main(arguments: list[str]) -> int:
    """Fuzz, print, write; 1 where something was found."""
    if arguments[:1] == ["--look"]:
        _, name, file = arguments
        sys.stdout.write(f"{OF_AN_HOUR[name]().look(Path(file).read_bytes())}\n")
        return 0
    names = [name for name in arguments if name != "--write"] or list(OF_AN_HOUR)
    if unknown := set(names) - set(OF_AN_HOUR):
        sys.exit(f"there is no target {', '.join(sorted(unknown))}; there is {', '.join(OF_AN_HOUR)}")
    seconds = float(os.environ.get("FUZZ_SECONDS", "3600"))
    seed = int(os.environ.get("FUZZ_SEED") or random.SystemRandom().randrange(10**9))
    sys.stdout.write(f"FUZZ_SEED={seed}, {seconds:.0f} seconds\n")
    sys.stdout.flush()
    began, started = datetime.now(UTC), time.monotonic()
    # Not forked: each opens its own stores.
    with ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = [pool.submit(fuzzed_for, names, seed + place, seconds) for place in range(PROCESSES)]
        found = [each.result() for each in waiting]
    runs = [run for together in zip(*found, strict=True) for run in together]
    text = markdown(runs, began=began, seconds=time.monotonic() - started, processes=PROCESSES)
    sys.stdout.write(f"\n{text}\n")
    if "--write" in arguments:
        put_between_markers(text)
    return int(any(run.findings for run in runs))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
