"""LoCoMo: five long conversations of two people over months, and questions with the turns that hold their answers.

Not ours to ship, and for evaluation only (CC BY-NC): the data stay where they are. A turn is ``speaker: text``, with
the caption of its picture where it has one; the first speaker of a dialog is the user. Left out are questions that have
no answer (category 5), and those whose evidence names a turn that is not there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from agent.core.ids import name_uuid
from agent.core.turn import SessionTurn

FILE: Final = Path("nc", "locomo10__5-dialogs.json")
TUNED_ON: Final = 3
_CATEGORIES: Final = frozenset({1, 2, 3, 4})
_SESSION: Final = re.compile(r"session_(\d+)")
_WHEN: Final = "%I:%M %p on %d %B, %Y"


class Question(NamedTuple):
    """What is asked at the end of a dialog; ``evidence`` are places in its turns."""

    text: str
    evidence: frozenset[int]


class Dialog(NamedTuple):
    """A dialog by the name that the data give it."""

    name: str
    turns: tuple[SessionTurn, ...]
    questions: tuple[Question, ...]


def dialogs(data: Path) -> list[Dialog]:
    """The dialogs in the folder ``data``, in their order."""
    return [_dialog(each) for each in json.loads((data / FILE).read_text(encoding="utf-8"))]


def _dialog(source: Mapping[str, Any]) -> Dialog:
    name, said = source["sample_id"], list(_said(source["conversation"]))
    user = said[0][0]["speaker"]
    turns = [_turn(name, place, turn, when, user) for place, (turn, when) in enumerate(said)]
    places = {turn["dia_id"]: place for place, (turn, _) in enumerate(said)}
    questions = [
        Question(each["question"], frozenset(places[place] for place in each["evidence"]))
        for each in source["qa"]
        if each["category"] in _CATEGORIES and each["evidence"] and places.keys() >= set(each["evidence"])
    ]
    return Dialog(name, tuple(turns), tuple(questions))


def _said(conversation: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """What was said, with the time of its session."""
    numbers = sorted(int(found[1]) for key in conversation if (found := _SESSION.fullmatch(key)))
    for number in numbers:
        began = datetime.strptime(conversation[f"session_{number}_date_time"], _WHEN).replace(tzinfo=UTC)
        for turn in conversation[f"session_{number}"]:
            yield turn, began.isoformat()


def _turn(name: str, place: int, source: Mapping[str, Any], when: str, user: str) -> SessionTurn:
    caption = source.get("blip_caption")
    text = f"{source['speaker']}: {source['text']}" + (f" [{caption}]" if caption else "")
    return SessionTurn(
        turn_id=name_uuid(f"{name} turn {place}"),
        seq=place + 1,
        conversation_id=name_uuid(name),
        parent_turn_id=name_uuid(f"{name} turn {place - 1}") if place else None,
        role="user" if source["speaker"] == user else "assistant",
        content=text,
        erased=False,
        fields={"timestamp": when},
    )
