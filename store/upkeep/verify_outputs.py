"""Whether the outputs of an event are what its inputs make (CONTRACT 4 and 6), and the first difference.

Asked of events of our own agent alone: what another writer calls nodes and edges is its own affair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from agent.core.graph import Edge, Graph, Node, build_graph
from agent.core.ids import edge_id, is_uuid
from store.log.session_row import turn_tokens

_LINEAGE: Final = "lineage_creation_enabled"
_EDGE_TYPES: Final = ("belongs_to", "follows", "responds_to", "invokes")
_NOT_A_PAYLOAD: Final = (KeyError, TypeError, AttributeError, ValueError, IndexError)


def outputs_problem(payload: Mapping[str, Any], *, erased: bool) -> str | None:
    """What the outputs say otherwise than the inputs and the event; None where there is nothing."""
    try:
        inputs, outputs = payload["inputs"], payload["outputs"]
        said = [("capture_timestamp", payload["timestamp"]), ("turn_count", len(inputs["turns"]))]
        said += [(name, inputs[name].lower()) for name in ("session_id", "conversation_id")]
        wrong = [name for name, value in said if outputs[name] != value]
        if not erased and outputs.get("total_tokens") != _total_tokens(inputs["turns"]):
            wrong.append("total_tokens")
    except _NOT_A_PAYLOAD:
        return "its outputs are not of the contract's shape"
    return f"its outputs say something else than its inputs: {', '.join(wrong)}" if wrong else None


def graph_problem(payload: Mapping[str, Any], *, erased: bool) -> str | None:
    """The first difference between the graph of the outputs and that of the inputs; None where there is none."""
    try:
        graph = build_graph(_as_it_was(payload) if erased else payload["inputs"])
    except _NOT_A_PAYLOAD:
        return "its inputs make no graph"
    try:
        outputs = payload["outputs"]
        nodes, edges = _nodes(outputs["nodes_created"]), _edges(outputs["edges_created"])
    except _NOT_A_PAYLOAD:
        return "its nodes or edges are not of the contract's shape"
    # Content and state are gone, and with them what says which system turns are no messages, so what was answered.
    unknown = _answering(payload["inputs"]["turns"]) if erased else frozenset()
    return _node_problem(graph.nodes, nodes) or _edge_problem(graph, edges, unknown)


def _total_tokens(turns: Iterable[Mapping[str, Any]]) -> int | None:
    counts = [count for turn in turns if (count := turn_tokens(dict(turn))) is not None]
    return sum(counts) if counts else None


def _as_it_was(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs whose graph is that of an erased event's, but for what assistants answered."""
    inputs = payload["inputs"]
    turns = [{"content": None, **turn} for turn in inputs["turns"]]
    options = {"create_lineage": _LINEAGE in payload["constraints_applied"]}
    return {"session_id": inputs["session_id"], "capture_options": options, "turns": turns}


def _answering(turns: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(turn["turn_id"].lower() for turn in turns if turn["role"] == "assistant")


def _nodes(sent: Iterable[Mapping[str, Any]]) -> list[Node]:
    return [Node(node["node_id"], node["node_type"], node.get("turn_index")) for node in sent]


def _edges(sent: Iterable[Mapping[str, Any]]) -> list[tuple[str, Edge]]:
    return [(edge["edge_id"], Edge(edge["edge_type"], edge["from_node_id"], edge["to_node_id"])) for edge in sent]


def _node_problem(expected: tuple[Node, ...], there: list[Node]) -> str | None:
    found = {node.node_id: node for node in there}
    for node in expected:
        if node.node_id not in found:
            return f"node {node.node_id} is missing"
        if node != found[node.node_id]:
            return f"node {node.node_id} has another type or turn_index"
    ours = {node.node_id for node in expected}
    for node in there:
        if node.node_id not in ours:
            return f"node {_named(node.node_id)} is there, which the inputs do not make"
    return None if list(expected) == there else "its nodes stand in another order"


def _edge_problem(graph: Graph, there: list[tuple[str, Edge]], unknown: frozenset[str]) -> str | None:
    found = {edge for _, edge in there}
    expected = [edge for edge in graph.edges if not _is_unknown(edge, unknown)]
    for edge in expected:
        turned = Edge(edge.edge_type, edge.to_node_id, edge.from_node_id)
        if edge not in found:
            return f"edge {_text(edge)} is turned round" if turned in found else f"edge {_text(edge)} is missing"
    nodes = {node.node_id for node in graph.nodes}
    known = set(expected)
    for own_id, edge in there:
        if edge not in known and not (_is_unknown(edge, unknown) and edge.to_node_id in nodes):
            return f"edge {_text(edge)} is there, which the inputs do not make"
        if own_id != edge_id(*edge):
            return f"edge {_text(edge)} has another id"
    same = expected == [edge for _, edge in there if not _is_unknown(edge, unknown)]
    return None if same else "its edges stand in another order"


def _is_unknown(edge: Edge, unknown: frozenset[str]) -> bool:
    return edge.edge_type == "responds_to" and edge.from_node_id in unknown


def _text(edge: Edge) -> str:
    kind = edge.edge_type if edge.edge_type in _EDGE_TYPES else "of another type"
    return f"{kind} from {_named(edge.from_node_id)} to {_named(edge.to_node_id)}"


def _named(node_id: str) -> str:
    """An id; what is none may be anything, and is not repeated."""
    return node_id if is_uuid(node_id) else "(no UUID)"
