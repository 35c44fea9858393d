"""Entities against the slot spans of SGD: how many of the gold spans are told, and what is told that is no slot.

The rules were written by looking at dialogs 1, 3, 5 ... (``TUNED_ON``); the figures that count are those of the others.
A span is told exactly (both ends) or in part (one character in common); the type is not compared, since a slot has a
name of its own. What is told and is no slot is not false by that: a year or an airline that no frame asks for. So it
is given by type, for people to judge.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from agent.entities.entities import entities_of
from benchmarks.sgd_dialogs import DIALOGS

# Numbers and common words: a rating, a genre or a kind of cooking is neither an identifier nor a name.
NO_ENTITIES: Final = frozenset({"aggregate_rating", "category", "genre", "rating"})


class Span(NamedTuple):
    """A gold span, or an entity: the turn's place, both ends, and the slot or the type."""

    turn: int
    start: int
    end: int
    name: str
    text: str


class Score(NamedTuple):
    """Counts by slot: of spans, of those told exactly, of those told at least in part. ``beside`` are no slots."""

    spans: Counter[str]
    exact: Counter[str]
    part: Counter[str]
    told: int
    beside: tuple[Span, ...]


def scored(dialogs: Iterable[Mapping[str, Any]]) -> Score:
    """Over all of ``dialogs``, in the shape of the data set, each as one capture."""
    spans, exact, part = Counter[str](), Counter[str](), Counter[str]()
    told, beside = 0, []
    for dialog in dialogs:
        gold, found = list(_gold(dialog)), _found(dialog)
        told += len(found)
        beside += [each for each in found if not any(_touch(each, span) for span in gold)]
        places = {(each.turn, each.start, each.end) for each in found}
        for span in gold:
            spans[span.name] += 1
            exact[span.name] += span[:3] in places
            part[span.name] += any(_touch(each, span) for each in found)
    return Score(spans, exact, part, told, tuple(beside))


def table(data: Path) -> str:
    """The scores of both halves of the dialogs in ``data``, by slot, and what was told beside the slots."""
    every = [json.loads(line) for line in (data / DIALOGS).read_text().splitlines()]
    tuned, held_out = scored(every[::2]), scored(every[1::2])
    lines = [
        "Entities: share of SGD's slot spans that are told, exactly / at least in part",
        f"  {'':26}{'tuned on':>24}{'held out':>24}",
    ]
    slots = sorted(tuned.spans | held_out.spans)
    named = [slot for slot in slots if slot not in NO_ENTITIES]
    groups = [(slot, [slot]) for slot in named] + [("identifiers and names", named), ("all slots", slots)]
    lines += [f"  {name:26}{_row(tuned, some):>24}{_row(held_out, some):>24}" for name, some in groups]
    for name, score in (("tuned on", tuned), ("held out", held_out)):
        lines.append(f"  {name}: {score.told} entities told, {len(score.beside)} of them no slot: {_by_type(score)}")
    return "\n".join(lines)


def _row(score: Score, slots: Iterable[str]) -> str:
    some = list(slots)
    count, exact, part = (sum(each[slot] for slot in some) for each in (score.spans, score.exact, score.part))
    return f"{exact / count:.2f} / {part / count:.2f} of {count}" if count else "none"


def _by_type(score: Score) -> str:
    counts = Counter(each.name for each in score.beside)
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def _gold(dialog: Mapping[str, Any]) -> Iterator[Span]:
    for place, turn in enumerate(dialog["turns"]):
        seen = set()
        for frame in turn["frames"]:
            for slot in frame["slots"]:
                start, end = slot["start"], slot["exclusive_end"]
                if (start, end) not in seen:
                    seen.add((start, end))
                    yield Span(place, start, end, slot["slot"], turn["utterance"][start:end])


def _found(dialog: Mapping[str, Any]) -> list[Span]:
    turns = [{"turn_id": str(place), "content": turn["utterance"]} for place, turn in enumerate(dialog["turns"])]
    return [
        Span(int(each["turn_id"]), each["start"], each["end"], each["type"], each["text"])
        for each in entities_of({"turns": turns})
    ]


def _touch(one: Span, other: Span) -> bool:
    return one.turn == other.turn and one.start < other.end and other.start < one.end
