"""Windows: what one costs beside LangChain's ``trim_messages`` and a bare walk from the end, all in one process."""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from benchmarks.figure import Figure, milliseconds
from benchmarks.pairs import Samples, at_most, ratios
from benchmarks.rows import Stage
from benchmarks.scripts import run_script

_REPOSITORY: Final = Path(__file__).resolve().parents[2]
_STRATEGIES: Final = ("truncate", "rolling_window", "importance", "hybrid")


def run(stage: Stage) -> list[Figure]:
    """Windows of 1 000 and of 10 000 messages with tools, by each strategy that needs no query."""
    found = []
    for count, bound in ((1000, 1.0), (10_000, 10.0)):
        for strategy in _STRATEGIES:
            samples = _samples(stage, "window", stage.rounds(30, 6), count, strategy)
            peer, bare = (ratios(samples, "ours", side) for side in ("peer", "bare"))
            note = (
                f"/ LangChain: {statistics.median(peer):.3f} ({_shown(samples, 'peer')}), / a bare backward walk: "
                f"{statistics.median(bare):.1f} ({_shown(samples, 'bare')})"
            )
            if "list" in samples:
                whole = statistics.median(ratios(samples, "list", "peer"))
                note += f"; of a list that nobody holds: {_shown(samples, 'list')}, / LangChain {whole:.1f}"
            what = f"window of {count} messages with tools, 4 000 tokens, {strategy}"
            found.append(_absolute("window", what, "ms", bound, samples["ours"]["seconds"], note))
    return found


def run_relevant(stage: Stage) -> list[Figure]:
    """Windows by relevance of 1 000 messages."""
    samples = _samples(stage, "relevant", stage.rounds(30, 6))
    what = "window of 1 000 messages by relevance"
    return [
        _absolute("window-relevant", f"{what}, index there", "ms", 5, samples["warm"]["seconds"]),
        _absolute("window-relevant-cold", f"{what}, index made for it", "ms", 60, samples["cold"]["seconds"]),
    ]


def run_counting(stage: Stage) -> list[Figure]:
    """Exact counts of new messages."""
    samples = _samples(stage, "counting", stage.rounds(40, 8))
    what = "count of a message of 400 characters, exact"
    bare = f"/ the bare tokenizer: {statistics.median(ratios(samples, 'ours', 'bare')):.2f}"
    return [
        _absolute("window-count", what, "us", 20, samples["ours"]["seconds"], bare),
        at_most("window-count-bare", f"{what} / the bare tokenizer", 3, samples, ("ours", "bare")),
    ]


def run_held(stage: Stage) -> list[Figure]:
    """A session of 10 000 turns that is held: the figures of its window, and the memory that it takes."""
    turns = 10_000
    folder = stage.folder / "window-held"
    folder.mkdir()
    samples = run_script(stage, "benchmarks.held_windows", "stats", str(folder), str(stage.rounds(40, 8)), str(turns))
    fresh = stage.folder / "window-memory"
    fresh.mkdir()
    taken = run_script(stage, "benchmarks.held_windows", "memory", str(fresh), str(turns))
    session = f"a held session of {turns} turns"
    note = f"its row alone, which each asks the store for: {_shown(samples, 'row')}"
    return [
        _absolute("window-stats", f"stats of {session}", "ms", 10, samples["stats"]["seconds"], note),
        Figure("window-memory", f"memory of {session}, scores and index included", "MB", "at most", 40, (taken / 1e6,)),
    ]


def _absolute(
    name: str, what: str, unit: Literal["ms", "us"], bound: float, seconds: Sequence[float], *notes: str
) -> Figure:
    """A figure that was promised as a time; what it is paired with stands in its notes."""
    scale = {"ms": 1e3, "us": 1e6}[unit]
    return Figure(name, what, unit, "at most", bound, tuple(scale * each for each in seconds), notes=notes)


def _shown(samples: Samples, side: str) -> str:
    return milliseconds(statistics.median(samples[side]["seconds"]))


def _samples(stage: Stage, row: str, *arguments: object) -> Samples:
    subprocess.run(["sh", "scripts/side_environment.sh", "peers"], cwd=_REPOSITORY, check=True)
    python = _REPOSITORY / ".venv-peers" / "bin" / "python"
    samples: Samples = run_script(stage, "benchmarks.windows", row, *map(str, arguments), python=python)
    return samples
