"""A session's graph as Mermaid and Graphviz draw it: short names, short labels, and groups for what belongs together.

``belongs_to`` is drawn by where a node stands: in the box of its session, and of its conversation where there are
several. A parent that is not here (``SessionGraph.absent``) gets a stub outside, so that its edge leads somewhere.
Labels are one line of text that is safe where it is shown; each language quotes them by its own rules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from agent.core.graph import Edge
from agent.core.session_graph import SessionGraph, SessionNode
from agent.core.turn import SessionTurn
from agent.recall.drawings.shown_turn import ShownTurn

# Cells of text in a label: enough to know a turn again.
_TEXT: Final = 40
_NAME: Final = 60
RESOLVED: Final = "resolved on read"

# The start of a text in so many cells, as one line that is safe to show.
Label = Callable[[str, int], str]


class Kind(StrEnum):
    """What a node is, for its shape and colour."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    OTHER = "other"
    CALL = "call"
    ABSENT = "absent"


_ROLES: Final = frozenset({Kind.SYSTEM, Kind.USER, Kind.ASSISTANT, Kind.TOOL})


class DrawnNode(NamedTuple):
    """A node under a short name. ``current``: it is in the current history."""

    name: str
    label: str
    kind: Kind
    erased: bool = False
    current: bool = False


class DrawnEdge(NamedTuple):
    """An edge between two names."""

    edge_type: str
    start: str
    end: str


class Group(NamedTuple):
    """The nodes of a conversation; ``label`` is None where the session has one only."""

    label: str | None
    nodes: tuple[DrawnNode, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is drawn: every name that an edge uses is a node of a group or of ``absent``.

    ``resolved`` are those of the ``edges`` that no capture has, and that reading the session found.
    """

    title: str
    groups: tuple[Group, ...]
    absent: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    resolved: frozenset[DrawnEdge] = frozenset()

    def word(self, edge: DrawnEdge) -> str:
        """What is written at ``edge``."""
        return f"{edge.edge_type}, {RESOLVED}" if edge in self.resolved else edge.edge_type


def drawing(graph: SessionGraph, current: Collection[str], label: Label, *, resolved: Collection[Edge] = ()) -> Drawing:
    """What is drawn of ``graph``; ``current`` are the turns of the current history, ``label`` makes texts short."""
    names: dict[str, str] = {}
    grouped: dict[str, list[DrawnNode]] = {}
    for node in graph.nodes:
        if node.turn is not None:
            names[node.node_id] = f"n{len(names)}"
            drawn = _drawn(names[node.node_id], node, node.turn, label)
            drawn = drawn._replace(current=node.node_id in current)
            grouped.setdefault(node.turn.conversation_id, []).append(drawn)
    absent: list[DrawnNode] = []
    for turn_id in graph.absent:
        names[turn_id] = f"n{len(names)}"
        absent.append(DrawnNode(names[turn_id], label(f"not here: turn {turn_id}", _NAME), Kind.ABSENT))
    several = len(grouped) > 1
    edges = {
        edge: DrawnEdge(edge.edge_type, names[edge.from_node_id], names[edge.to_node_id])
        for edge in graph.edges
        # What another writer calls an invocation may be the session's own id, which is no node here.
        if edge.edge_type != "belongs_to" and edge.to_node_id in names
    }
    return Drawing(
        label(f"session {graph.session_id}", _NAME),
        tuple(
            Group(label(f"conversation {conversation}", _NAME) if several else None, tuple(nodes))
            for conversation, nodes in grouped.items()
        ),
        tuple(absent),
        tuple(edges.values()),
        frozenset(edges[edge] for edge in resolved if edge in edges),
    )


def _drawn(name: str, node: SessionNode, turn: SessionTurn, label: Label) -> DrawnNode:
    if node.invocation is not None:
        (call,) = ShownTurn.of({"tool_invocations": [node.invocation]}).calls.values()
        return DrawnNode(name, label(f"calls {call.text()}", _TEXT), Kind.CALL)
    head = label(f"#{turn.seq} {turn.role}".rstrip(), _TEXT)
    kind = Kind(turn.role) if turn.role in _ROLES else Kind.OTHER
    if turn.erased:
        return DrawnNode(name, f"{head} (erased)", kind, erased=True)
    if turn.is_state_only:
        return DrawnNode(name, f"{head} (state only)", kind)
    text = label(turn.content or "", _TEXT)
    return DrawnNode(name, f"{head}: {text}" if text else head, kind)
