"""``memory-graph agent conversation-memory import``: many small conversations, and the memory that large files take."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from benchmarks.figure import Figure, milliseconds
from benchmarks.pairs import Samples, ratios
from benchmarks.process import filesystem
from benchmarks.rows import Stage
from benchmarks.scripts import run_script

_EXPORT_MB = 100
_FEW_LINES_MB, _MANY_LINES_MB = 50, 500


def run(stage: Stage) -> list[Figure]:
    """Conversations a second of the whole command, its start left out, against keeping the same lines."""
    folder = stage.folder / "import"
    folder.mkdir()
    conversations = stage.rounds(10_000, 1_000)
    arguments = (str(folder), str(stage.rounds(5, 3)), str(conversations))
    samples: Samples = run_script(stage, "benchmarks.importing", *arguments, python=Path(sys.executable))
    product, baseline = (statistics.median(samples[side]["seconds"]) for side in ("command", "bare"))
    cpu = [statistics.median(samples[side]["cpu"]) for side in ("command", "bare")]
    return [
        Figure(
            name="import",
            what=f"conversations a second of import, {conversations} of 4 turns, embedded store / parse, append, fsync",
            unit="x",
            limit="at least",
            bound=0.4,
            samples=ratios(samples, "bare", "command"),
            product=f"{1 / product:.0f}/s",
            baseline=f"{1 / baseline:.0f}/s",
            notes=(
                f"on {filesystem(folder)}; a conversation: {milliseconds(product)} / {milliseconds(baseline)}",
                f"CPU alone: {milliseconds(cpu[0])} / {milliseconds(cpu[1])}; a slow disk makes the ratio better",
            ),
        )
    ]


def run_peak(stage: Stage) -> list[Figure]:
    """The peak resident size of a fresh process that reads an export on one line, and lines of two lengths."""
    folder = stage.folder / "import-peak"
    folder.mkdir()
    export = _peak(stage, "export", _EXPORT_MB, folder)
    few, many = (_peak(stage, "lines", size, folder) for size in (_FEW_LINES_MB, _MANY_LINES_MB))
    return [
        Figure(
            name="import-peak-export",
            what=f"peak resident size of import --dry-run over a ChatGPT export of {_EXPORT_MB} MB on one line",
            unit="MB",
            limit="at most",
            bound=200,
            decided_by="max",
            samples=(export / 1e6,),
        ),
        Figure(
            name="import-peak-lines",
            what=f"peak size of import --dry-run over {_MANY_LINES_MB} MB of JSON lines / over {_FEW_LINES_MB} MB",
            unit="x",
            limit="at most",
            bound=1.2,
            samples=(many / few,),
            product=f"{many / 1e6:.0f} MB",
            baseline=f"{few / 1e6:.0f} MB",
            notes=("nothing was promised but that it is flat: the bound says when to look at it",),
        ),
    ]


def _peak(stage: Stage, kind: str, megabytes: int, folder: Path) -> int:
    arguments = ("peak", kind, str(megabytes), str(folder))
    peak: int = run_script(stage, "benchmarks.importing", *arguments, python=Path(sys.executable))
    return peak
