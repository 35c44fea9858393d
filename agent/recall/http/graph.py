"""``GET .../{session_id}/graph``: the nodes and edges of a session over all its captures (CONTRACT 4), or a drawing.

Nodes and edges hold ids, names and numbers and no content; drawings show the start of what each turn says.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from agent.core.graph import Edge
from agent.core.session_graph import SessionGraph, session_graph
from agent.recall.http.answer import Answer, document
from agent.recall.http.request import FRESH, Request
from agent.recall.resolved_edges import resolved_edges
from agent.recall.view import SeenSession

# IANA has a name for what Graphviz reads, and none for the other.
_TYPES: Final = {"dot": "text/vnd.graphviz; charset=utf-8", "mermaid": "text/plain; charset=utf-8"}
FORMS: Final = ("json", "mermaid", "dot")


def graph(request: Request) -> Answer:
    """The graph of the session, or of one conversation with what it continues."""
    query = request.query("format", "conversation_id", FRESH)
    form = query.choice("format", FORMS)
    view = request.view(query)
    seen = request.see(query, view)
    turns = seen.state.turns if form == "json" else seen.held.whole(seen.state.turns)
    made = session_graph(request.session_id, turns, conversation_id=view.conversation_id)
    resolved = resolved_edges(request.source.reads, made)
    request.respond(seen)
    version = seen.held.version
    if form != "json":
        text = _drawn(made, seen, resolved, form)
        return Answer(text.encode(), headers={"Content-Type": _TYPES[form]}, version=version)
    shown = made.document()
    for edge, members in zip(made.edges, shown["edges"], strict=True):
        if edge in resolved:
            members["resolved_on_read"] = True
    return document({**shown, "version": version}, version=version)


def _drawn(made: SessionGraph, seen: SeenSession, resolved: Collection[Edge], form: str) -> str:
    # For the one request in many that draws.
    from agent.recall.drawings.dot import dot
    from agent.recall.drawings.drawing import drawing
    from agent.recall.drawings.label import label
    from agent.recall.drawings.mermaid import mermaid

    current = {turn.turn_id for turn in seen.history}
    write = mermaid if form == "mermaid" else dot
    return write(drawing(made, current, label, resolved=resolved))
