"""A session's history as the document that the read side answers with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.core.turn import SessionTurn
from agent.errors import NotFound
from agent.recall.messages import message
from agent.recall.source import Source
from agent.recall.speakers import speakers
from agent.recall.view import SeenSession


def conversation_document(source: Source, seen: SeenSession, turns: Sequence[SessionTurn]) -> dict[str, Any]:
    """The history with ``turns`` of it as messages; they are whole. Raises NotFound for a session without a row."""
    row = seen.held.row
    if row is None:
        raise NotFound("there is no such session")
    members: dict[str, Any] = {"session_id": seen.held.session_id}
    if row.native_session_id is not None:
        members["native_session_id"] = row.native_session_id
    only = seen.view.conversation_id
    return members | {
        "messages": messages(source, seen, turns),
        "agents_used": list(row.agents),
        "created_at": row.created_at,
        "last_activity": row.last_activity,
        "message_count": len(seen.history),
        "branches": [branch._asdict() for branch in seen.walked.branches if only in (None, branch.conversation_id)],
        "version": seen.held.version,
    }


def messages(source: Source, seen: SeenSession, turns: Sequence[SessionTurn]) -> list[dict[str, Any]]:
    """``turns``, which are whole, as messages.

    Where no turn and no capture of the session names an agent, its events need not be read for one.
    """
    pairs = seen.pairs_for(turns)
    names_agents = seen.held.row is not None and seen.held.row.agents
    agents = speakers(source.reads, seen.held.session_id, turns if names_agents else (), source.agents)
    return [message(turn, agent=agents.get(turn.turn_id), pairs=pairs) for turn in turns]
