"""Reads of the embedded store: a long session, the list of sessions, a search."""

from __future__ import annotations

from benchmarks.figure import Figure
from benchmarks.pairs import Samples, at_most
from benchmarks.rows import Stage
from benchmarks.scripts import run_script


def run_turns(stage: Stage) -> list[Figure]:
    """A thousand turns, as the store gives them and as its application answers."""
    samples = _samples(stage, "turns", stage.rounds(40, 8))
    what = {"records": "from the store", "app": "through the WSGI application"}
    return [
        at_most(
            f"store-turns-{side}",
            f"1 000 turns of a session {way} / the same rows by bare sqlite3; both parsed (orjson)",
            1.5,
            samples,
            (side, "bare"),
        )
        for side, way in what.items()
    ]


def run_sessions(stage: Stage) -> list[Figure]:
    """The first page of the list, whatever is behind it."""
    many = stage.rounds(100_000, 10_000)
    samples = _samples(stage, "sessions", stage.rounds(20, 5), many)
    what = f"first page (100) of the session list with {many} sessions / with 100"
    return [at_most("store-sessions", what, 2, samples, ("many", "few"))]


def run_search(stage: Stage) -> list[Figure]:
    """A page of what a search finds. Nothing was promised of it: the bound says when to look at it."""
    sessions = stage.rounds(3000, 500)
    samples = _samples(stage, "search", stage.rounds(20, 5), sessions)
    what = f"first page (50) of the sessions that hold two words, of {sessions} / the same by bare FTS5"
    return [at_most("store-search", what, 5, samples, ("ours", "fts"))]


def _samples(stage: Stage, row: str, *numbers: int) -> Samples:
    folder = stage.folder / f"store-{row}"
    folder.mkdir()
    samples: Samples = run_script(stage, "benchmarks.store_reads", row, str(folder), *map(str, numbers))
    return samples
