"""What is asked of a session beside its messages: state, summary, insights and counts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from agent.core.summary import statistics, summary
from agent.recall.context import ContextSettings, SessionWindows, window_stats
from agent.recall.http.answer import Answer, document
from agent.recall.http.context import BUDGET, window_asked
from agent.recall.http.request import FRESH, VIEW, Operation, Request
from agent.recall.insights import insights as insights_of
from agent.recall.view import View


def state(request: Request) -> Answer:
    """What the conversation knows at its end (CONTRACT 9), and what of its turns said nothing, by their places."""
    query = request.query(*VIEW, FRESH)
    seen = request.see(query, request.view(query))
    # Ours last: a member that nobody knows may have any name.
    members = {
        **seen.memory.document(),
        "session_id": request.session_id,
        "version": seen.held.version,
        "warnings": [problem.as_dict() for problem in seen.memory.ignored],
    }
    request.respond(seen)
    return document(members, version=seen.held.version)


def summarised(request: Request) -> Answer:
    """How many messages the session shows, and when it began and was last heard of."""
    query = request.query(FRESH)
    seen = request.see(query, View())
    members = {**summary(seen.state).document(), "session_id": request.session_id, "version": seen.held.version}
    request.respond(seen)
    return document(members, version=seen.held.version)


def counted_with(settings: ContextSettings, windows: SessionWindows, clock: Callable[[], datetime]) -> Operation:
    """The operation that counts: how many messages by whom, for how many tokens, and how full their window is.

    ``total_messages`` and what goes with it are of the history that is asked for. The window is of the newest
    conversation where none is: its figures are of that one, which ``conversation_id`` names.
    """

    def counted(request: Request) -> Answer:
        query = request.query(*BUDGET, *VIEW, FRESH)
        asked = window_asked(query)
        seen = request.see(query, request.view(query))
        figures = window_stats(seen, asked, settings, windows, now=clock())
        members = {
            **figures.document(),
            **statistics(seen.history).document(),
            "session_id": request.session_id,
            "version": seen.held.version,
        }
        request.respond(seen)
        return document(members, version=seen.held.version)

    return counted


def insights(request: Request) -> Answer:
    """What sets the session apart from the others. No ETag: it changes with them."""
    query = request.query(FRESH)
    seen = request.see(query, View())
    members = insights_of(request.source.reads, request.session_id, seen.held, request.source.agents)
    request.respond(seen)
    return document({**members, "version": seen.held.version})
