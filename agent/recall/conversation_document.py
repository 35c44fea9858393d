"""A session's history as the document that the read side answers with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.core.turn import SessionTurn
from agent.recall.messages import message
from agent.recall.source import Source
from agent.recall.speakers import speakers
from agent.recall.view import SeenSession
from agent.ruvector.models import SessionRow


def conversation_document(
    source: Source, seen: SeenSession, row: SessionRow, turns: Sequence[SessionTurn]
) -> dict[str, Any]:
    """The history with ``turns`` of it as messages; they are whole. ``row`` is what the session is listed by."""
    members: dict[str, Any] = {"session_id": seen.held.session_id}
    if row.native_session_id is not None:
        members["native_session_id"] = row.native_session_id
    only = seen.view.conversation_id
    return members | {
        "messages": messages(source, seen, turns, names_agents=bool(row.agents)),
        "agents_used": list(row.agents),
        "created_at": row.created_at,
        "last_activity": row.last_activity,
        "message_count": len(seen.history),
        "branches": [branch._asdict() for branch in seen.walked.branches if only in (None, branch.conversation_id)],
        "version": seen.held.version,
    }


def messages(
    source: Source, seen: SeenSession, turns: Sequence[SessionTurn], *, names_agents: bool
) -> list[dict[str, Any]]:
    """``turns``, which are whole, as messages. ``names_agents``: a turn or a capture of the session names one.

    Where none does, the session's events need not be read for it.
    """
    answers = any(turn.role == "tool" and turn.invocations for turn in turns)
    pairs = seen.walked.pairs if answers else {}
    agents = speakers(source.reads, seen.held.session_id, turns if names_agents else (), source.agents)
    return [message(turn, agent=agents.get(turn.turn_id), pairs=pairs) for turn in turns]
