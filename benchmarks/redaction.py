"""Times detectors on texts, one by one: ours, one that finds nothing, and Google's ``PhoneNumberMatcher`` alone.

``messages FILE ROUNDS`` takes a JSON list of texts. CPU seconds: for each message the least of its rounds, the three in
turn, so that what else runs on the machine is in none. ``loading`` and ``memory``: what the detectors cost once.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

_PROBES = ("mia@example.com", "call +44 7400 123456", "reach me on 0121 234 5678", "BSN 467207720", "DNI 27474880T")


def messages(texts: list[str], rounds: int) -> dict[str, list[float]]:
    """The least CPU seconds of each text, by side."""
    import phonenumbers

    from agent.content.detectors import find

    sides: dict[str, Callable[[str], object]] = {
        "find": find,
        "nothing": lambda text: [],  # noqa: ARG005 - the same call, and no work
        "matcher": lambda text: [*phonenumbers.PhoneNumberMatcher(text, "US")],
    }
    least = {side: [float("inf")] * len(texts) for side in sides}
    for _ in range(rounds):
        for place, text in enumerate(texts):
            for side, detect in sides.items():
                started = time.thread_time()
                detect(text)
                least[side][place] = min(least[side][place], time.thread_time() - started)
    return least


def loading() -> float:
    """CPU seconds of the import and of the first texts that need each of the libraries."""
    started = time.process_time()
    from agent.content.detectors import find

    for probe in _PROBES:
        find(probe)
    return time.process_time() - started


def memory() -> int:
    """Bytes that the process grows by, libraries and their tables included."""
    before = _resident()
    loading()
    return _resident() - before


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


if __name__ == "__main__":
    if sys.argv[1] == "messages":
        print(json.dumps(messages(json.loads(Path(sys.argv[2]).read_text()), int(sys.argv[3]))))
    else:
        print(json.dumps({"loading": loading, "memory": memory}[sys.argv[1]]()))
