"""Writes alerts.yaml and dashboard.json of deploy/monitoring from their sources: ``added(...)`` there is a long query.

``added(SELECTOR[WINDOW])``, with ``by (LABELS)`` or ``offset`` where wanted, is how much the counters that SELECTOR
names grew in WINDOW, exactly, summed. Of each series it takes the last value less the last value before the window, or
the whole value where there is none: a series that was born in the window, as that of every new instance is. Prometheus'
own ``increase`` takes such a series for one that did not grow, and one that was exported once in the window too
(tests/monitoring/test_sparse_series.py). It holds for counters that never go back, as ours: each process is an instance
of its own. An instance that says nothing for longer than ``BEFORE`` is counted anew.

Refuses an ``added`` that it cannot read. ``--check`` writes nothing, and fails where a file is not what its source
says.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parents[1] / "deploy" / "monitoring"
FILES: Final = ("alerts.yaml", "dashboard.json")
# Cloud Run ends an instance after 15 idle minutes, but for those of min-instances.
BEFORE: Final = "6h"
_ADDED: Final = re.compile(
    r"\badded(?P<by> by \([a-z_, ]+\) )?"
    r"\((?P<selector>\w+(?:\{[^}]*\})?)\[(?P<window>\d+[mh])\](?: offset (?P<offset>\d+m))?\)"
)


def expanded(source: str) -> str:
    """``source`` with the query in place of each ``added(...)``. Raises ValueError for one of another shape."""
    text = _ADDED.sub(_query, source)
    if re.search(r"\badded\b *(\(|by)", text):
        raise ValueError("an added(...) that is not added(SELECTOR[WINDOW])")
    return text


def source_of(name: str, folder: Path = FOLDER) -> Path:
    """The source of a file: alerts.source.yaml of alerts.yaml."""
    path = folder / name
    return path.with_name(f"{path.stem}.source{path.suffix}")


def main(arguments: list[str]) -> int:
    """Write what is not as its source says, or only name it. Returns the exit code."""
    stale = []
    for name in FILES:
        text = expanded(source_of(name).read_text())
        if (FOLDER / name).exists() and (FOLDER / name).read_text() == text:
            continue
        stale.append(name)
        if "--check" not in arguments:
            (FOLDER / name).write_text(text)
    if "--check" in arguments and stale:
        print(f"not what the source says: {', '.join(stale)}; run python scripts/expand_monitoring.py")
        return 1
    return 0


def _query(match: re.Match[str]) -> str:
    selector, window, offset = match["selector"], match["window"], match["offset"]
    now = f"last_over_time({selector}[{window}]{f' offset {offset}' if offset else ''})"
    start = _minutes(window) + (_minutes(offset) if offset else 0)
    before = f"last_over_time({selector}[{BEFORE}] offset {start}m)"
    return f"sum{match['by'] or ''}(({now} - {before}) or {now})"


def _minutes(duration: str) -> int:
    return int(duration[:-1]) * (60 if duration.endswith("h") else 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
