"""SGD dialogs as sessions that a store would hold: what was said, what was called, and what it answered.

A SYSTEM turn that reports a service call becomes three turns: the call, its result, and what is said of it. Ids are
made from the dialog and the place. Not ours to ship: the data stay where they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from agent.core.ids import name_uuid
from agent.core.turn import SessionTurn

DIALOGS = "sgd__dev__45.jsonl"
TUNED_ON = 22


class Dialog(NamedTuple):
    """A dialog, numbered from 1. ``places[n]`` is where its turn n ends up in ``turns``: what is said there."""

    number: int
    turns: tuple[SessionTurn, ...]
    places: tuple[int, ...]
    source: list[dict[str, Any]]


def dialogs(data: Path, *, calls: bool = True) -> Iterator[Dialog]:
    """The dialogs in ``data``; without their ``calls``, only what was said."""
    for number, line in enumerate((data / DIALOGS).read_text().splitlines(), 1):
        yield dialog(number, json.loads(line)["turns"], calls=calls)


def dialog(number: int, source: list[dict[str, Any]], *, calls: bool = True) -> Dialog:
    """One dialog in the shape of the data set as a session."""
    turns: list[SessionTurn] = []
    places = []
    for each in source:
        for frame in each["frames"]:
            if calls and "service_call" in frame:
                turns += _called(number, len(turns), frame)
        places.append(len(turns))
        turns.append(_turn(number, len(turns), "user" if each["speaker"] == "USER" else "assistant", each["utterance"]))
    return Dialog(number, tuple(turns), tuple(places), source)


def _called(number: int, place: int, frame: dict[str, Any]) -> tuple[SessionTurn, SessionTurn]:
    call = frame["service_call"]
    entry = {"tool_name": call["method"], "invocation_id": name_uuid(f"sgd {number} call {place}")}
    result = json.dumps(frame.get("service_results", []), ensure_ascii=False)
    return (
        _turn(number, place, "assistant", "", {**entry, "arguments": call["parameters"]}),
        _turn(number, place + 1, "tool", result, entry),
    )


def _turn(number: int, place: int, role: str, content: str, *invocations: dict[str, Any]) -> SessionTurn:
    fields: dict[str, Any] = {"tool_invocations": list(invocations)} if invocations else {}
    return SessionTurn(
        turn_id=name_uuid(f"sgd {number} turn {place}"),
        seq=place + 1,
        conversation_id=name_uuid(f"sgd {number}"),
        parent_turn_id=name_uuid(f"sgd {number} turn {place - 1}") if place else None,
        role=role,
        content=content,
        erased=False,
        fields=fields,
    )
