"""Runs the benchmarks and prints one table: ``python -m benchmarks [NAME...] [--quick] [--out FILE]``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.figure import Figure, table
from benchmarks.rows import (
    Stage,
    capacity,
    cold_start,
    command_line,
    entities,
    importing,
    in_process,
    latency_tail,
    memory,
    recall,
    redaction,
    serving,
    store_appends,
    store_reads,
    store_sizes,
    store_sql_layer,
    store_writers,
    telemetry,
    throughput,
    verifying,
    windows,
    worker,
)
from benchmarks.runtime import prepare

_REPOSITORY = Path(__file__).resolve().parents[1]

ROWS: dict[str, Callable[[Stage], list[Figure]]] = {
    "cold-start": cold_start.run,
    "request-cpu": serving.run,
    "throughput": throughput.run,
    "worker": worker.run,
    "telemetry": telemetry.run,
    "latency-tail": latency_tail.run,
    "capacity": capacity.run,
    "embedded": in_process.run_embedded,
    "growth": in_process.run_growth,
    "memory-load": memory.run_load,
    "memory-peak": memory.run_peak,
    "store-append": store_appends.run,
    "store-size": store_sizes.run,
    "store-turns": store_reads.run_turns,
    "store-sessions": store_reads.run_sessions,
    "store-search": store_reads.run_search,
    "store-writers-postgresql": store_writers.run_postgresql,
    "store-writers-sqlite": store_writers.run_sqlite,
    "sql-layer": store_sql_layer.run,
    "cli-help": command_line.run,
    "verify": verifying.run,
    "import": importing.run,
    "import-peak": importing.run_peak,
    "recall-history": recall.run_history,
    "recall-growth": recall.run_growth,
    "recall-append": recall.run_append,
    "recall-sessions": recall.run_sessions,
    "window": windows.run,
    "window-relevant": windows.run_relevant,
    "window-count": windows.run_counting,
    "window-held": windows.run_held,
    "entities": entities.run,
    "redaction": redaction.run,
}


def main() -> int:
    """Measure the named rows (all of them unless some are named). The exit code says nothing about bounds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"rows to run: {', '.join(ROWS)}")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a look, not a result")
    parser.add_argument("--out", type=Path, help="write all samples there as JSON")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(ROWS)
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    # Beside the code, not in /tmp: a temporary folder is often kept in memory, and some figures are about a disk.
    folder = Path(tempfile.mkdtemp(prefix=".benchmarks-", dir=_work_folder()))
    started = time.monotonic()
    figures: list[Figure] = []
    try:
        stage = Stage(prepare(folder / "code"), folder, arguments.quick)
        for name in arguments.names or ROWS:
            print(f"{name} ...", file=sys.stderr, flush=True)
            figures += ROWS[name](stage)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(table(figures))
    missed = [figure.name for figure in figures if not figure.met]
    print(f"\n{len(figures) - len(missed)} of {len(figures)} met in {time.monotonic() - started:.0f} s", end="")
    print(f"; MISSED: {', '.join(missed)}" if missed else "")
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(_record(figures, quick=arguments.quick), indent=1) + "\n")
    return 0


def _work_folder() -> Path:
    build = _REPOSITORY / "build"
    build.mkdir(exist_ok=True)
    return build


def _record(figures: list[Figure], *, quick: bool) -> dict[str, object]:
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "machine": {"system": platform.platform(), "cpus": os.cpu_count(), "load": os.getloadavg()},
        "quick": quick,
        "figures": [figure.as_dict() for figure in figures],
    }


if __name__ == "__main__":
    sys.exit(main())
