"""The nodes and edges of one capture, from an answer or from a stored event, and how many there are of which type."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self

from agent.cli.memory.capturing.answer import Edge, Node, Output


@dataclass(frozen=True, slots=True)
class GraphParts:
    """A capture's graph, in the order in which it was stored."""

    session_id: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @classmethod
    def of(cls, output: Output) -> Self:
        """The graph of a capture's answer."""
        return cls(output.session_id, output.nodes_created, output.edges_created)

    def counts(self) -> str:
        """How many nodes and edges there are, for people."""
        types = Counter(edge.edge_type for edge in self.edges)
        named = ", ".join(f"{count} {edge_type}" for edge_type, count in types.items())
        return f"{len(self.nodes)} nodes, {len(self.edges)} edges" + (f" ({named})" if named else "")
