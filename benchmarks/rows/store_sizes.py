"""What the embedded store keeps on disk: of a turn, and of a session that is sent again and again as it grows.

The search index is not in it: the first search makes it, and nobody searches here.
"""

from __future__ import annotations

from benchmarks.figure import Figure
from benchmarks.rows import Stage
from benchmarks.scripts import run_script

_LARGEST_PARTS = 8


def run(stage: Stage) -> list[Figure]:
    """Bytes a turn of many conversations, and of one session as snapshots against the same sent once."""
    folder = stage.folder / "store-size"
    folder.mkdir()
    return [_bytes_a_turn(stage, str(folder)), _snapshots(stage, str(folder))]


def _bytes_a_turn(stage: Stage, folder: str) -> Figure:
    captures = stage.rounds(3000, 300)
    measured = run_script(stage, "benchmarks.store_sizes", "conversations", folder, str(captures))
    turns, parts = measured["turns"], measured["parts"]
    largest = sorted(parts.items(), key=lambda part: part[1], reverse=True)[:_LARGEST_PARTS]
    return Figure(
        name="store-size",
        what="bytes on disk a turn: event, turn, graph and indexes of 10-turn captures, each in a new session",
        unit="B",
        limit="at most",
        bound=900,
        samples=(measured["bytes"] / turns,),
        product=f"{measured['bytes'] / turns:.0f} B",
        baseline=f"{measured['json_a_turn']:.0f} B",
        notes=(
            f"{turns} turns; a turn's JSON {measured['json_a_turn']:.0f} B, its write {measured['write_a_turn']:.0f} B",
            "bytes a turn of the largest: " + ", ".join(f"{name} {size / turns:.0f}" for name, size in largest),
        ),
    )


def _snapshots(stage: Stage, folder: str) -> Figure:
    measured = run_script(stage, "benchmarks.store_sizes", "snapshots", folder, "1000", "100")
    sizes = measured["bytes"]
    return Figure(
        name="store-snapshots",
        what="bytes on disk of a 1 000-turn session sent as 100 growing snapshots / sent once",
        unit="x",
        limit="at most",
        bound=1.5,
        samples=(sizes["snapshots"] / sizes["once"],),
        product=f"{sizes['snapshots'] / 1024:.0f} KiB",
        baseline=f"{sizes['once'] / 1024:.0f} KiB",
        notes=(
            f"in 100 pieces of what is new: {sizes['pieces'] / 1024:.0f} KiB",
            f"the turns' JSON: {measured['json'] / 1024:.0f} KiB",
        ),
    )
