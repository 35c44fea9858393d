"""``GET .../{session_id}/context`` and ``POST /api/context``: what fits a token budget, with the account of all of it.

The first is of a session, the second of a list of messages that no store has and none gets: it is read, cut and
forgotten. A conversation that the session does not have is one that is about to begin: its window is empty.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from agent.core.pairs import paired_calls
from agent.core.turn import SessionTurn
from agent.core.window.manifest import Manifest
from agent.core.window.marker import is_marker, missing_at
from agent.edge.document import parse
from agent.edge.request_body import request_body
from agent.errors import NotFound
from agent.formats import NATIVE
from agent.recall.context import (
    LONGEST_MODEL,
    LONGEST_QUERY,
    ContextRequest,
    ContextSettings,
    SessionWindows,
    Window,
    list_window,
    session_window,
    window_of,
    written,
)
from agent.recall.conversation_document import messages
from agent.recall.http.answer import Answer, document
from agent.recall.http.context_asked import FORMATS, MOST_TOKENS, posted
from agent.recall.http.query import LONGEST_NAME, Query
from agent.recall.http.request import FRESH, VIEW, Operation, Request
from agent.recall.messages import message
from agent.recall.posted_messages import PostedMessages, posted_messages
from agent.recall.view import SeenSession
from agent.window_settings import LONGEST_MARKER, MOST_MESSAGES

_EXPLAIN: Final = ("false", "true")
# Of a window's figures; ``/stats`` takes them too.
BUDGET: Final = ("max_tokens", "strategy", "model", "scope")
_ASKED: Final = (*BUDGET, "query", "format", "min_recent", "max_messages", "marker", "explain", *VIEW, FRESH)


def context_with(settings: ContextSettings, windows: SessionWindows) -> Operation:
    """The operation that gives the window of a session."""

    def context(request: Request) -> Answer:
        query = request.query(*_ASKED)
        asked, explain = _asked(query), query.choice("explain", _EXPLAIN) == "true"
        view = request.view(query)
        # A branch of a conversation that is about to begin is none.
        seen = request.see(query, view, may_begin=view.leaf is None)
        if seen.held.row is None and not seen.held.version:
            raise NotFound("there is no such session")
        with request.telemetry.spans.span("respond"):
            window = session_window(seen, asked, settings, windows)
            _report(request, window)
            contents = (turn.content for turn in window.messages)
            total = window.manifest.kept + window.manifest.dropped
            request.telemetry.context_loaded(request.session_id, total_messages=total, contents=contents)
            members = _members(request, seen, window, asked, windows)
            conversation_id = window_of(seen, asked, settings).conversation_id
            if conversation_id is not None:
                members["conversation_id"] = conversation_id
            members |= {"manifest": _account(window.manifest, explain=explain), "version": seen.held.version}
            request.respond(seen)
            return document(members, version=seen.held.version)

    return context


def posted_context_with(settings: ContextSettings, windows: SessionWindows) -> Operation:
    """The operation that gives the window of a list that is posted, in its own format where no other is asked for."""

    def posted_context(request: Request) -> Answer:
        request.query()
        body = posted(parse(request_body(request.environ)).value)
        given = posted_messages(body.messages)
        asked = body.asked._replace(format=body.asked.format or given.form)
        with request.telemetry.spans.span("respond"):
            window = list_window(given.turns, asked, settings, windows)
            _report(request, window)
            members = _members_of_list(window, given, asked)
            members["manifest"] = _account(window.manifest, explain=body.explain)
            members["warnings"] = [problem.as_dict() for problem in given.warnings]
            return document(members)

    return posted_context


def window_asked(query: Query) -> ContextRequest:
    """What a query says of a window's budget (``BUDGET``)."""
    return ContextRequest(
        max_tokens=query.whole_number("max_tokens", highest=MOST_TOKENS),
        strategy=query.text("strategy", longest=LONGEST_NAME),
        model=query.text("model", longest=LONGEST_MODEL),
        scope=query.text("scope", longest=LONGEST_NAME),
    )


def _asked(query: Query) -> ContextRequest:
    return window_asked(query)._replace(
        query=query.text("query", longest=LONGEST_QUERY),
        format=query.choice("format", FORMATS),
        min_recent=query.whole_number("min_recent", highest=MOST_MESSAGES),
        max_messages=query.whole_number("max_messages", lowest=1, highest=MOST_MESSAGES),
        marker=query.text("marker", longest=LONGEST_MARKER),
    )


def _members(
    request: Request, seen: SeenSession, window: Window, asked: ContextRequest, windows: SessionWindows
) -> dict[str, Any]:
    """The messages: as the history shows them, with markers among them, or as the document of the format."""
    if asked.format in (None, NATIVE):
        whole = [turn for turn in window.messages if not is_marker(turn)]
        shown = iter(messages(request.source, seen, whole))
        found = [_marker(turn) if is_marker(turn) else next(shown) for turn in window.messages]
        return {"session_id": request.session_id, "messages": found}
    # One that is about to begin has no captures to look at.
    is_there = seen.held.row is not None
    written_as = written(
        window,
        str(asked.format),
        seen=seen if is_there else None,
        source=request.source if is_there else None,
        remembered=windows.captures,
    )
    return {
        **written_as.for_provider,
        "session_id": request.session_id,
        "format": asked.format,
        "left_out": written_as.left_out,
    }


def _members_of_list(window: Window, given: PostedMessages, asked: ContextRequest) -> dict[str, Any]:
    if asked.format == NATIVE:
        pairs = paired_calls(given.turns)
        found = [
            _marker(turn) if is_marker(turn) else message(turn, agent=None, pairs=pairs) for turn in window.messages
        ]
        return {"format": NATIVE, "messages": found}
    written_as = written(window, str(asked.format), came_in=given.form)
    return {**written_as.for_provider, "format": asked.format, "left_out": written_as.left_out}


def _marker(turn: SessionTurn) -> dict[str, Any]:
    """A marker is no turn: it has no id and no place."""
    return {"role": turn.role, "content": turn.content, "metadata": {"marker": missing_at(turn)}}


def _account(manifest: Manifest, *, explain: bool) -> dict[str, Any]:
    """The manifest; every turn of it only where ``explain`` asks, since there may be many thousands."""
    if explain:
        return manifest.document()
    told = {each.name: getattr(manifest, each.name) for each in fields(manifest) if each.name != "account"}
    return {**told, "by_role": dict(manifest.by_role), "hash": manifest.hash}


def _report(request: Request, window: Window) -> None:
    manifest = window.manifest
    if manifest.dropped:
        request.telemetry.context_pruned(
            request.session_id or None,
            kept=manifest.kept,
            dropped=manifest.dropped,
            tokens=manifest.tokens,
            strategy=manifest.strategy,
        )
