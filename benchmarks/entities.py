"""Times entities beside a bare walk over the same text, message by message; run by its row.

``messages FILE ROUNDS`` takes a JSON list of texts. CPU seconds: for each message the least of its rounds, product and
walk in turn, so that what else runs on the machine is in neither. ``loading`` and ``memory``: what the rules cost once.
"""

from __future__ import annotations

import json
import re
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

_WORD = re.compile(r"\w+")


def messages(texts: list[str], rounds: int) -> dict[str, list[float]]:
    """CPU seconds of each text: ``entities`` of it, and a ``walk`` over its words."""
    from agent.entities.entities import entities_of

    def told(text: str) -> object:
        return entities_of({"turns": [{"turn_id": "", "content": text}]})

    sides: dict[str, Callable[[str], object]] = {"entities": told, "walk": _walk}
    least = {name: [float("inf")] * len(texts) for name in sides}
    for number in range(rounds):
        for place, text in enumerate(texts):
            for name in sorted(sides, reverse=number % 2 == 1):
                started = time.process_time()
                sides[name](text)
                least[name][place] = min(least[name][place], time.process_time() - started)
    return least


def loading(*, traced: bool) -> float:
    """CPU seconds that the first import of the rules takes, their patterns compiled; ``traced``: bytes that stay."""
    if traced:
        tracemalloc.start()
    started = time.process_time()
    from agent.entities.entities import entities_of

    elapsed = time.process_time() - started
    entities_of({"turns": []})
    return float(tracemalloc.get_traced_memory()[0]) if traced else elapsed


def _walk(text: str) -> int:
    return sum(1 for _ in _WORD.finditer(text))


def _measured(row: str, *arguments: str) -> Any:
    if row in ("loading", "memory"):
        # Each in a process of its own: tracing makes an import several times slower.
        return loading(traced=row == "memory")
    return messages(json.loads(Path(arguments[0]).read_text()), int(arguments[1]))


if __name__ == "__main__":
    print(json.dumps(_measured(*sys.argv[1:])))
