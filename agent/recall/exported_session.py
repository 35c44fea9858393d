"""A session as a format's writer wants it: its turns, its history, and what its captures said beside their turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agent.core.turn import SessionTurn
from agent.formats.writing import Session
from agent.recall.captures_said import CapturesSaid, read_captures

if TYPE_CHECKING:
    from agent.ruvector.reads import StoreReads


def exported_session(
    reads: StoreReads,
    session_id: str,
    conversation_id: str | None,
    *,
    shown: Sequence[SessionTurn],
    turns: Sequence[SessionTurn],
    brought: Sequence[SessionTurn] | None = None,
    captures: CapturesSaid = read_captures,
) -> Session:
    """The session, or one conversation of it, that shows ``shown`` of its ``turns``. Ids are UUIDs in lower case.

    ``brought``: the turns whose captures a writer asks about; all of them where it is not said. ``captures`` tells what
    these said. Raises StoreNotFound for a store that has no list of events.
    """
    asked = turns if brought is None else brought
    found = captures(reads, session_id, asked)
    named_alike: dict[str, Mapping[str, Any]] = {}
    without_parent: set[str] = set()
    for turn in asked:
        said = found.get(turn.fields.get("execution_ref", ""))
        if said is None or turn.erased:
            continue
        if turn.turn_id in said.named_alike:
            named_alike[turn.turn_id] = said.named_alike[turn.turn_id]
        if turn.turn_id in said.without_parent:
            without_parent.add(turn.turn_id)
    return Session(
        session_id,
        conversation_id,
        tuple(shown),
        tuple(turns),
        {name: said.capture for name, said in found.items()},
        named_alike,
        without_parent,
    )
