"""The table of a run as Markdown, and its place in docs/reliability.md: the run that saw the figures writes them."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tests.chaos.ledger import CALM, Ledger, Row
from tests.chaos.parts import Life
from tests.chaos.proof import Findings

BEGIN = "<!-- written by make chaos: begin -->"
END = "<!-- written by make chaos: end -->"
_MIB = 2**20
_HEAD = (
    "fault",
    "times",
    "captures",
    "at first",
    "after retries",
    "put off, then",
    "rightly refused",
    "requests",
    "answers that were no acknowledgement",
    "slowest request, s",
    "first acknowledged after it, s",
)


@dataclass(frozen=True)
class Told:
    """What a run was: how it is typed, when and where it ran, and how long it took."""

    command: str
    began: datetime
    seconds: float
    revision: str
    old_revision: str | None
    deadline_s: float
    bound_s: float
    load: float
    failed_starts: int


def markdown(told: Told, ledger: Ledger, findings: Findings, lives: Iterable[Life]) -> str:
    """The whole of what stands between the markers."""
    return "\n\n".join([_run(told), _table(ledger), _found(told, ledger, findings), _lives(lives)])


def put_between_markers(document: Path, text: str) -> None:
    """Replace what an earlier run wrote there. Raises ValueError where the markers are not in the document."""
    before, begin, rest = document.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{document.name} has no place for the table")
    document.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")


def _run(told: Told) -> str:
    nice = os.nice(0)
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    old = told.old_revision or "none: this copy has no history, so the rolls were left out"
    shared = f"load average {told.load:.1f} at the start" + (f", the run at nice {nice}" if nice else "")
    lines = [
        f"`{told.command}`, {told.began:%Y-%m-%d %H:%M} UTC, {told.seconds / 60:.1f} minutes;",
        f"revision `{told.revision}`, old release `{old}`; {machine}, Python {platform.python_version()}; {shared}.",
    ]
    return "\n".join(lines)


def _table(ledger: Ledger) -> str:
    names = [CALM, *sorted(name for name in ledger.rows if name != CALM)]
    rows = [_cells(name, ledger.rows[name]) for name in names if name in ledger.rows]
    total = Row(answers=Counter())
    for row in ledger.rows.values():
        total.times += row.times
        total.captures += row.captures
        total.at_first += row.at_first
        total.after_retries += row.after_retries
        total.later += row.later
        total.refused += row.refused
        total.requests += row.requests
        total.answers += row.answers
        total.slowest = max(total.slowest, row.slowest)
        total.recovered = max(total.recovered, row.recovered)
    rows.append(_cells("**all**", total))
    lines = [_HEAD, ("---", *("---:" for _ in _HEAD[1:-3]), "---", "---:", "---:"), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cells(name: str, row: Row) -> tuple[str, ...]:
    counts = (row.times, row.captures, row.at_first, row.after_retries, row.later, row.refused, row.requests)
    answers = "; ".join(f"{answer} {count}" for answer, count in sorted(row.answers.items())) or "-"
    times = "" if name == CALM else str(row.times)
    recovered = "" if name == CALM else f"{row.recovered:.2f}"
    return (name, times, *(str(count) for count in counts[1:]), answers, f"{row.slowest:.2f}", recovered)


def _found(told: Told, ledger: Ledger, findings: Findings) -> str:
    slowest = max(row.slowest for row in ledger.rows.values())
    beside = told.bound_s - told.deadline_s
    strange, disordered = len(findings.strange), len(findings.out_of_order)
    lines = [
        f"{ledger.acknowledgements} acknowledgements of {len(ledger.acknowledged)} distinct payloads",
        f"({ledger.duplicates} of them as duplicates); {findings.events} events in the store.",
        "",
        f"missing {len(findings.missing)}, doubled {len(findings.doubled)}, never sent {len(findings.never_sent)},",
        f"gaps in the positions {len(findings.gaps)}.",
        "",
        f"{findings.sessions} sessions with {findings.turns} turns read and compared turn by turn: out of order",
        f"{disordered}, otherwise strange {strange}; {ledger.read_back} more were read back meanwhile.",
        "",
        f"answers without a code of the contract, or that no fault excuses: {len(ledger.wrong)}.",
        "",
        f"slowest request {slowest:.2f} s; the bound is {told.bound_s:.1f} s",
        f"(`RUVECTOR_DEADLINE_S={told.deadline_s:g}`, and {beside:.1f} s for all else).",
        "",
        f"starts that ended by themselves, and were made again as a platform does: {told.failed_starts}.",
        "",
        "`memory-graph agent conversation-memory verify` and `memory-graph store verify`: nothing found.",
    ]
    return "\n".join(f"- {entry}" for entry in "\n".join(lines).replace("\n\n", "\0").replace("\n", " ").split("\0"))


def _lives(lives: Iterable[Life]) -> str:
    longest: dict[str, Life] = {}
    for life in lives:
        if life.part not in longest or life.seconds > longest[life.part].seconds:
            longest[life.part] = life
    lines = [("part, its longest life", "s", "RSS, MiB", "threads", "open files"), ("---", *["---:"] * 4)]
    for life in longest.values():
        first, last = life.first, life.last
        lines.append(
            (
                life.part,
                f"{life.seconds:.0f}",
                f"{first.rss / _MIB:.0f} → {last.rss / _MIB:.0f}",
                f"{first.threads} → {last.threads}",
                f"{first.files} → {last.files}",
            )
        )
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
