"""One append to the embedded store, against what makes the same bytes durable."""

from __future__ import annotations

import statistics

from benchmarks.figure import Figure, milliseconds
from benchmarks.pairs import Samples, ratios
from benchmarks.process import filesystem
from benchmarks.rows import Stage
from benchmarks.scripts import run_script

_SIDES = {"from_bytes": "from the bytes of the write: reading them and", "alone": "what was read of a write:"}


def run(stage: Stage) -> list[Figure]:
    """From the bytes of a write to its acknowledgement, and the append without reading them."""
    folder = stage.folder / "store-append"
    folder.mkdir()
    samples: Samples = run_script(stage, "benchmarks.store_appends", str(folder), str(stage.rounds(40, 8)))
    seconds = {name: milliseconds(statistics.median(side["seconds"])) for name, side in samples.items()}
    cpu = {name: milliseconds(statistics.median(side["cpu"])) for name, side in samples.items()}
    app = statistics.median(ratios(samples, "app", "written"))
    return [
        Figure(
            name="store-append" if side == "from_bytes" else "store-append-alone",
            what=f"{what} appending a 10-turn capture / write + fdatasync of the same bytes",
            unit="x",
            limit="at most",
            bound=1.6,
            samples=ratios(samples, side, "written"),
            product=seconds[side],
            baseline=seconds["written"],
            notes=(
                f"on {filesystem(folder)}; CPU alone: {cpu[side]} / {cpu['written']}",
                f"reading alone: {seconds['read']}; through the WSGI application: {seconds['app']}, {app:.2f}",
            ),
        )
        for side, what in _SIDES.items()
    ]
