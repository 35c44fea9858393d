"""Conversations in Python, on the embedded store: what a program reads and writes, and the list of its sessions."""

from __future__ import annotations

import dataclasses
import statistics

from benchmarks.figure import Figure, milliseconds
from benchmarks.pairs import Samples, at_most, ratios
from benchmarks.process import filesystem
from benchmarks.rows import Stage
from benchmarks.scripts import run_script


def run_history(stage: Stage) -> list[Figure]:
    """A history of a thousand messages: read for the first time, and read again."""
    samples = _samples(stage, "history", stage.rounds(40, 8), 1000)
    same_parser = ratios(samples, "first", "bare_jiter")
    note = f"with our parser on both sides: {statistics.median(same_parser):.2f}; ten turns a capture"
    bare = "the same records by bare sqlite3 and json.loads"
    return [
        at_most("recall-history", f"history of a 1 000-turn session / {bare}", 1.6, samples, ("first", "bare"), note),
        at_most("recall-unchanged", f"the same, unchanged since it was read / {bare}", 0.1, samples, ("again", "bare")),
    ]


def run_growth(stage: Stage) -> list[Figure]:
    """What one more turn costs a reader, whatever the session's length."""
    samples = _samples(stage, "growth", stage.rounds(200, 40), 10_000)
    what = "the newest 10 messages after one more turn, session of 10 000 turns / of 100"
    return [at_most("recall-growth", what, 1.5, samples, ("long", "short"))]


def run_append(stage: Stage) -> list[Figure]:
    """One message written by a program, against the append alone."""
    samples = _samples(stage, "append", stage.rounds(40, 8))
    cpu = {side: milliseconds(statistics.median(samples[side]["cpu"])) for side in ("program", "store")}
    note = f"on {filesystem(stage.folder)}; CPU alone: {cpu['program']} / {cpu['store']}"
    what = "append of one message / the store's own append, from the bytes of its write"
    return [at_most("recall-append", what, 1.5, samples, ("program", "store"), note)]


def run_sessions(stage: Stage) -> list[Figure]:
    """The list of conversations, at its start and at its end."""
    many = stage.rounds(100_000, 10_000)
    samples = _samples(stage, "listing", stage.rounds(20, 5), many)
    what = f"page {many // 100} (100) of the list of {many} sessions by cursor / page 1, or the other way round"
    figure = at_most("recall-sessions", what, 2, samples, ("last", "first"))
    # How far apart they are: neither is to be the dear one.
    return [dataclasses.replace(figure, samples=tuple(max(each, 1 / each) for each in figure.samples))]


def _samples(stage: Stage, row: str, *numbers: int) -> Samples:
    folder = stage.folder / f"recall-{row}"
    folder.mkdir()
    arguments = (row, str(folder), *map(str, numbers))
    samples: Samples = run_script(stage, "benchmarks.recall", *arguments)
    return samples
