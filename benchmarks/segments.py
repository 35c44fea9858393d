"""How well tasks are told apart: ``python -m benchmarks.segments [--shared DIR] [--tune]``.

SGD, dialogs 1 to 22 for tuning, 23 to 45 for the figures. Gold: a user turn that brings a service which the user turn
before it did not have is a boundary. (In these data the turn of a change often names both services, and the next one
drops the old; counted as sets that are not the same, each such change is two. That reading is given beside it.) A
dialog's first turn is no boundary. Told with the service calls as tool calls, and from what was said alone.

Two baselines: every user turn begins a task, and none does. Not a figure of time.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from agent.core.pairs import paired_calls
from agent.core.turn import SessionTurn
from agent.core.window.segments import segments
from benchmarks.sgd_dialogs import DIALOGS, TUNED_ON, Dialog, dialogs

WAYS = ("segments", "every user turn", "none")


class Score(NamedTuple):
    """Boundaries that were found and are some, that were found, and that are some."""

    right: int = 0
    found: int = 0
    gold: int = 0

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.found + self.gold) if self.found + self.gold else 0.0


def gold(dialog: Dialog, *, strict: bool = False) -> set[int]:
    """The places of a dialog's boundaries; ``strict``: wherever the services of two user turns are not the same."""
    boundaries = set()
    before: set[str] | None = None
    for place, turn in zip(dialog.places, dialog.source, strict=True):
        if turn["speaker"] != "USER":
            continue
        services = {frame["service"] for frame in turn["frames"]}
        if before is not None and (services != before if strict else services - before):
            boundaries.add(place)
        before = services
    return boundaries


def found(turns: Sequence[SessionTurn], way: str) -> set[int]:
    """The places where tasks begin but the first, in one of ``WAYS``."""
    if way == "segments":
        return {segment.start for segment in segments(turns, paired_calls(turns))} - {0}
    if way == "every user turn":
        return {place for place, turn in enumerate(turns) if turn.role == "user"} - {0}
    return set()


def score(dialogs: Iterable[Dialog], way: str, *, strict: bool = False) -> Score:
    """The boundaries of all ``dialogs`` together."""
    pairs = [(gold(dialog, strict=strict), found(dialog.turns, way)) for dialog in dialogs]
    right = sum(len(there & told) for there, told in pairs)
    return Score(right, sum(len(told) for _, told in pairs), sum(len(there) for there, _ in pairs))


def table(title: str, dialogs: Sequence[Dialog], *, strict: bool = False) -> str:
    """Precision, recall and F1 of each way."""
    lines = [title, f"{'':18}{'found':>7}{'gold':>7}{'right':>7}{'precision':>11}{'recall':>8}{'F1':>7}"]
    for way in WAYS:
        each = score(dialogs, way, strict=strict)
        counts = f"{each.found:7}{each.gold:7}{each.right:7}"
        lines.append(f"{way:18}{counts}{each.precision:11.3f}{each.recall:8.3f}{each.f1:7.3f}")
    return "\n".join(lines)


def amiss(dialogs: Iterable[Dialog]) -> list[str]:
    """The boundaries of ``dialogs`` that were missed, or found where there is none: a line each."""
    lines = []
    for dialog in dialogs:
        there, told = gold(dialog), found(dialog.turns, "segments")
        lines += [
            f"{dialog.number:3} {'missed' if place in there else 'wrong ':7} {dialog.turns[place].content!r}"
            for place in sorted(there ^ told)
        ]
    return lines


def main() -> int:
    """Print the figures; ``--tune`` prints the tuning dialogs' errors, and nothing of the others."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.segments", description=__doc__)
    default = os.environ.get("SHARED_DIR", Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--shared", type=Path, default=Path(default), metavar="DIR", help="where the data folder is")
    parser.add_argument("--tune", action="store_true", help="look at the errors in the tuning dialogs")
    arguments = parser.parse_args()
    data = arguments.shared / "data"
    if not (data / DIALOGS).is_file():
        print(f"skipped: no {DIALOGS} in {data} (--shared or SHARED_DIR names another place)")
        return 0
    for calls in (True, False):
        of = "with its calls" if calls else "said alone"
        every = list(dialogs(data, calls=calls))
        if arguments.tune:
            print("\n".join((of, *amiss(every[:TUNED_ON]), table(of, every[:TUNED_ON]), "")))
            continue
        print(table(f"SGD, {of}, dialogs 1 to {TUNED_ON} (tuned on)", every[:TUNED_ON]), end="\n\n")
        print(table(f"SGD, {of}, dialogs {TUNED_ON + 1} to 45 (held out)", every[TUNED_ON:]), end="\n\n")
        print(table(f"SGD, {of}, all", every), end="\n\n")
        print(table(f"SGD, {of}, all, gold by sets of services that differ", every, strict=True), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
