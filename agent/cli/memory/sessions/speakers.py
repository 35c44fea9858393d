"""Who spoke the turns of a session (CONTRACT 1): what a turn says itself, else, of an assistant, its capture.

A turn's record does not hold what its capture said beside it. So the session's events are read, the newest first, and
only as far as a turn still asks for one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent.cli.memory.events.event_ids import members_of
from agent.cli.raw_json import decoded, value_of
from agent.core.turn import SessionTurn
from agent.errors import StoreNotFound
from agent.recall.events import events

if TYPE_CHECKING:
    from agent.ruvector.reads import StoreReads


def own_agent(turn: SessionTurn) -> str | None:
    """The agent that ``turn`` names itself."""
    named = members_of(turn.fields.get("metadata")).get("agent")
    return named if isinstance(named, str) else None


def speakers(reads: StoreReads, session_id: str, turns: Iterable[SessionTurn]) -> dict[str, str]:
    """The agents of ``turns``, by turn; one of whom nothing is known is left out, as in a store without events."""
    known: dict[str, str] = {}
    asked: dict[str, list[str]] = {}
    for turn in turns:
        named = own_agent(turn)
        if named is not None:
            known[turn.turn_id] = named
        elif turn.role == "assistant" and not turn.erased:
            asked.setdefault(turn.fields.get("execution_ref", ""), []).append(turn.turn_id)
    try:
        newest = events(reads, session_id=session_id, order="desc")
        while asked and (event := next(newest, None)) is not None:
            spoken = asked.pop(event.execution_ref or "", ())
            agent = _agent_of_capture(event.text) if spoken else None
            if agent is not None:
                known |= dict.fromkeys(spoken, agent)
    except StoreNotFound:
        pass
    return known


def _agent_of_capture(text: bytes) -> str | None:
    inputs = members_of(members_of(members_of(value_of(decoded(text))).get("payload")).get("inputs"))
    agent = members_of(inputs.get("context")).get("agent_id")
    return agent if isinstance(agent, str) else None
