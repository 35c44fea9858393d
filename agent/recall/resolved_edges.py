"""Which edges of a session's graph no capture has: a reader of the whole session found them.

A capture's graph knows its own payload. That its first turn continues the leaf of an earlier capture, or what an
assistant answers there, is resolved when the session is read (CONTRACT 4 and 10), and so is lineage that a capture
did not ask for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from agent.core.graph import Edge
from agent.core.session_graph import SessionGraph
from agent.recall.events import events
from agent.ruvector.parsed import parsed

if TYPE_CHECKING:
    from agent.ruvector.reads import StoreReads


def resolved_edges(reads: StoreReads, graph: SessionGraph) -> frozenset[Edge]:
    """The edges of ``graph`` that none of the session's events has.

    Every event passes through memory once, a page at a time. Raises StoreNotFound for a store without a list of them.
    """
    left = set(graph.edges)
    for event in events(reads, session_id=graph.session_id):
        left.difference_update(_edges(parsed(event.text)))
    return frozenset(left)


def _edges(envelope: Any) -> Iterator[Edge]:
    outputs = _member(_member(envelope, "payload"), "outputs")
    made = _member(outputs, "edges_created")
    for edge in made if isinstance(made, list) else ():
        named = [_member(edge, name) for name in ("edge_type", "from_node_id", "to_node_id")]
        if all(isinstance(name, str) for name in named):
            kind, start, end = named
            yield Edge(kind, start.lower(), end.lower())


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
