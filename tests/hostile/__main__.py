"""``python -m tests.hostile``: attack, answers and memory peak, as the tables of docs/security/hostile-input.md."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.hostile.run import Course, at_once, bodies, crowd, heads, slow
from tests.hostile.targets import NAMES, targets
from tests.hostile.watch import Beside


def main() -> None:
    """Attack the four servers, and print a table of each course."""
    with tempfile.TemporaryDirectory() as folder, targets(Path(folder)) as running:
        _print("Bodies, to the capture function", {"capture": bodies(running["capture"])})
        for name in ("capture", "events"):
            course = at_once(running[name], "the hardest 10 MiB", 8)
            _print(f"Eight of the hardest at once, to {name}", {name: course})
        _print("Requests", {name: heads(running[name]) for name in NAMES})
        _print("Slow clients, all of a server's at once", {name: slow(running[name]) for name in NAMES})
        _print("A crowd", {name: crowd(running[name]) for name in NAMES})


def _print(title: str, courses: dict[str, Course]) -> None:
    """One table: an attack a row, a server a column; below the peaks and the caller beside it."""
    lines = [f"### {title}", "", f"| | {' | '.join(courses)} |", f"|---|{'---|' * len(courses)}"]
    for place, outcome in enumerate(next(iter(courses.values())).outcomes):
        cells = [_cell(course, place) for course in courses.values()]
        lines.append(f"| {outcome.name} | {' | '.join(cells)} |")
    lines.append(f"| *worker's peak* | {' | '.join(f'{course.peak_mib:.0f} MiB' for course in courses.values())} |")
    beside = [
        f"{len(c.beside.said)} of {c.beside.said.count(200)}, {c.beside.slowest_s:.1f} s" for c in courses.values()
    ]
    lines.append(f"| *others: served of asked, slowest* | {' | '.join(beside)} |")
    left = [f"{c.before.files} / {c.after.files}, {c.after.threads}" for c in courses.values()]
    lines += [f"| *files before / after, threads after* | {' | '.join(left)} |", "", ""]
    sys.stdout.write("\n".join(lines))
    sys.stdout.flush()


def _beside(beside: Beside) -> str:
    return f"{beside.said.count(200)} of {len(beside.said)}, {beside.slowest_s:.1f} s"


def _cell(course: Course, place: int) -> str:
    outcome = course.outcomes[place]
    text = ", ".join(what if count == 1 else f"{count} {what}" for what, count in outcome.answers.items())
    if outcome.longest_s:
        text += f"; {outcome.longest_s:.0f} s"
    if outcome.peak_mib:
        text += f"; {outcome.peak_mib:.0f} MiB"
    return text if outcome.is_typed else f"{text} (not typed)"


if __name__ == "__main__":
    main()
