"""Entities: what they cost a message of the real conversations in tests/data, beside a bare walk over its words."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.figure import Figure, milliseconds
from benchmarks.rows import Stage
from benchmarks.scripts import run_script

_DATA: Final = Path(__file__).resolve().parents[2] / "tests" / "data"
# What holds the text of a message in the files, whatever their format.
_TEXTS: Final = frozenset({"content", "text", "value", "output", "utterance", "message"})


def run(stage: Stage) -> list[Figure]:
    """The time of a message, p50 and p99, and what loading the rules takes."""
    texts = real_texts()
    file = stage.folder / "entities.json"
    file.write_text(json.dumps(texts))
    samples = run_script(stage, "benchmarks.entities", "messages", str(file), str(stage.rounds(9, 3)))
    seconds = tuple(run_script(stage, "benchmarks.entities", "loading") for _ in range(stage.rounds(5, 2)))
    taken = run_script(stage, "benchmarks.entities", "memory")
    ratio = sum(samples["entities"]) / sum(samples["walk"])
    longest = max(map(len, texts))
    note = f"{len(texts)} messages, the longest of {longest} characters; all of them / a bare walk: {ratio:.1f}"
    what = "entities of a message, CPU"
    return [
        _figure("entities-p50", f"{what}, p50", statistics.median, samples, note),
        _figure("entities-p99", f"{what}, p99", _p99, samples, note),
        Figure(
            "entities-import",
            "CPU of loading the rules, once",
            "ms",
            "at most",
            None,
            tuple(1e3 * each for each in seconds),
        ),
        Figure("entities-memory", "memory of the rules", "MB", "at most", None, (taken / 1e6,)),
    ]


def real_texts() -> list[str]:
    """The texts of the messages in tests/data, each once."""
    found: dict[str, None] = {}
    for path in sorted(_DATA.glob("*.json*")):
        text = path.read_text(encoding="utf-8")
        for document in text.splitlines() if path.suffix == ".jsonl" else (text,):
            try:
                loaded = json.loads(document)
            except ValueError:
                # One of the transcripts has junk lines on purpose.
                continue
            found.update(dict.fromkeys(_texts(loaded)))
    return list(found)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            if isinstance(member, str) and member and name in _TEXTS:
                yield member
            else:
                yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)


def _figure(name: str, what: str, chosen: Any, samples: dict[str, list[float]], note: str) -> Figure:
    product, baseline = chosen(samples["entities"]), chosen(samples["walk"])
    return Figure(
        name=name,
        what=f"{what}; beside it a walk over its words",
        unit="ms",
        limit="at most",
        bound=3,
        samples=(1e3 * product,),
        product=milliseconds(product),
        baseline=milliseconds(baseline),
        notes=(note,),
    )


def _p99(seconds: list[float]) -> float:
    return sorted(seconds)[int(0.99 * len(seconds))]
