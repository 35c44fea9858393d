"""The nodes and edges of one capture, sorted by what the tree says of each turn.

Those of a damaged event, or of another writer, may lead nowhere, come twice or be of an unknown type: what has no
place in the tree is counted, never guessed at.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from agent.cli.memory.capturing.answer import Edge, Node
from agent.cli.memory.drawings.graph_parts import GraphParts


@dataclass(slots=True)
class GraphLinks:
    """Turns are known by their place in the capture. ``unplaced_nodes``, ``unplaced_edges``: what the tree lacks."""

    places: dict[str, int] = field(default_factory=dict)
    """Turn node id to place."""
    named: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Place to the invocation nodes that its turn is the first to name."""
    caller: dict[str, int] = field(default_factory=dict)
    """Invocation node id to the place of the turn that invokes it."""
    invoked: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Turn node id to its invocations, in order."""
    follows: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    """Turn node id to the turn that it responds to."""
    results: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Tool turn node id to the invocations whose results it holds."""
    returned: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Invocation node id to the places of the turns that hold its result."""
    unplaced_nodes: int = 0
    unplaced_edges: int = 0

    @classmethod
    def of(cls, graph: GraphParts) -> GraphLinks:
        """Sort ``graph`` by what it links."""
        links = cls()
        links._add_nodes(graph)
        seen: set[tuple[str, str, str]] = set()
        for edge in graph.edges:
            known = (edge.edge_type, edge.from_node_id, edge.to_node_id)
            links.unplaced_edges += known in seen or not links._add_edge(edge)
            seen.add(known)
        return links

    def _add_nodes(self, graph: GraphParts) -> None:
        turns = {edge.from_node_id for edge in graph.edges if edge.edge_type == "belongs_to"}
        nodes: dict[str, Node] = {}
        for node in graph.nodes:
            nodes.setdefault(node.node_id, node)
        self.places = {
            name: node.turn_index for name, node in nodes.items() if name in turns and node.turn_index is not None
        }
        shown = set(self.places.values())
        placed = len(self.places)
        for name, node in nodes.items():
            if node.turn_index is None:
                placed += name == graph.session_id
            elif name not in turns and node.turn_index in shown:
                self.named[node.turn_index].append(name)
                placed += 1
        self.unplaced_nodes = len(graph.nodes) - placed

    def _add_edge(self, edge: Edge) -> bool:
        """Take one edge in; False where it has no place."""
        source, target = edge.from_node_id, edge.to_node_id
        if source not in self.places:
            return False
        if edge.edge_type == "belongs_to":
            return True
        if edge.edge_type == "follows":
            return self.follows.setdefault(source, target) == target
        if edge.edge_type == "responds_to" and target in self.places:
            return self.answers.setdefault(source, target) == target
        if edge.edge_type == "invokes":
            self.caller.setdefault(target, self.places[source])
            self.invoked[source].append(target)
        elif edge.edge_type == "responds_to":
            self.results[source].append(target)
            self.returned[target].append(self.places[source])
        else:
            return False
        return True
