"""Where the nodes and edges of an event are not those that its inputs make (CONTRACT 4).

Compared by what they are and not by their places: a node that is left out is one difference, whatever stands behind it.
The order is looked at by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from agent.core.difference import Difference, Kind, Side, shown
from agent.core.graph import EDGE_TYPES, Edge, Graph, Node
from agent.core.ids import edge_id, is_uuid
from agent.core.json_path import json_path
from agent.core.numbers import whole_number

NODES: Final = "nodes_created"
EDGES: Final = "edges_created"
_EDGE_NAMES: Final = ("edge_type", "from_node_id", "to_node_id")
_NODE = itemgetter("node_id", "node_type", "turn_index")
_EDGE = itemgetter(*_EDGE_NAMES)
_EDGE_ID = itemgetter("edge_id")
_TURN_INDEX = itemgetter("turn_index")

Members = Mapping[str, str | int]


class _Stored(NamedTuple):
    """A node or an edge as it stands in an event: its place, what it is known by, its members."""

    place: int
    key: Any
    fields: dict[str, Any]


def is_same_graph(graph: Graph, nodes: Any, edges: Any) -> bool:
    """Whether these are ``graph``; asked first, for they nearly always are. False says no more than: look closer.

    Both are lists, or both the JSON texts of lists.
    """
    session, *turns = graph.nodes
    try:
        if isinstance(nodes, bytes):
            return nodes == graph.nodes_json() and edges == graph.edges_json() and _is_plain(graph, nodes, edges)
        first, *named = nodes
        return (
            first == {"node_id": session.node_id, "node_type": session.node_type}
            and [*map(_NODE, named)] == turns
            and [*map(_EDGE, edges)] == [*graph.edges]
            and [*map(_EDGE_ID, edges)] == [edge_id(*edge) for edge in graph.edges]
            # Members beside these, or true where 1 should be.
            and {*map(len, named)} <= {3}
            and {*map(len, edges)} <= {4}
            and {*map(type, map(_TURN_INDEX, named))} <= {int}
        )
    except (KeyError, TypeError, ValueError):
        return False


def _is_plain(graph: Graph, nodes: bytes, edges: bytes) -> bool:
    """Whether the texts read as they were written: no id holds what would end it, or hide its end."""
    quotes = (10 * len(graph.nodes) - 2, 16 * len(graph.edges))
    return (nodes.count(b'"'), edges.count(b'"')) == quotes and b"\\" not in nodes and b"\\" not in edges


def graph_differences(graph: Graph, nodes: Any, edges: Any, *, unknown: Collection[str] = ()) -> list[Difference]:
    """All differences: first what has no shape, then the nodes', then the edges'.

    ``unknown`` are turns of which nobody can tell any more what they respond to: such an edge may be there or not.
    """
    shapes: list[Difference] = []
    stored_nodes = _read(NODES, nodes, _node_key, shapes)
    stored_edges = _read(EDGES, edges, _edge_key, shapes)
    if stored_nodes is not None:
        shapes += _node_differences(graph, stored_nodes)
    if stored_edges is not None:
        shapes += _edge_differences(graph, stored_edges, unknown)
    return shapes


def _read(
    name: str, value: Any, key_of: Callable[[Mapping[str, Any]], Hashable], shapes: list[Difference]
) -> list[_Stored] | None:
    """What the list ``name`` holds, without what has no shape; None where it is no list."""
    if not isinstance(value, list):
        shapes.append(Difference(_path(name), Kind.SHAPE, shown(value)))
        return None
    found = []
    for place, element in enumerate(value):
        key = key_of(element) if isinstance(element, dict) else None
        if key is None:
            shapes.append(Difference(_path(name, place), Kind.SHAPE, shown(element)))
        else:
            found.append(_Stored(place, key, element))
    return found


def _node_key(fields: Mapping[str, Any]) -> str | None:
    node_id = fields.get("node_id")
    return node_id if isinstance(node_id, str) else None


def _edge_key(fields: Mapping[str, Any]) -> Edge | None:
    edge_type, start, end = map(fields.get, _EDGE_NAMES)
    if isinstance(edge_type, str) and isinstance(start, str) and isinstance(end, str):
        return Edge(edge_type, start, end)
    return None


def _node_differences(graph: Graph, stored: Sequence[_Stored]) -> Iterator[Difference]:
    wanted = {node.node_id: node for node in graph.nodes}
    found = _first(stored)
    for place, node_id in enumerate(wanted):
        if node_id not in found:
            yield Difference(_path(NODES, place), Kind.MISSING, None, shown(node_id), _node_name(node_id))
    for each in stored:
        name = _node_name(each.key)
        if found[each.key] is not each:
            yield Difference(_path(NODES, each.place), Kind.REPEATED, shown(each.key), None, name)
        elif each.key not in wanted:
            yield Difference(_path(NODES, each.place), Kind.UNEXPECTED, shown(each.key), None, name)
        else:
            yield from _changed(NODES, each, _node_members(wanted[each.key]), name)
    yield from _order(NODES, list(wanted), found)


def _edge_differences(graph: Graph, stored: Sequence[_Stored], unknown: Collection[str]) -> Iterator[Difference]:
    wanted = {edge: place for place, edge in enumerate(graph.edges) if not _is_unknown(edge, unknown)}
    found = _first(stored)
    turned: set[Edge] = set()
    for edge, place in wanted.items():
        other_way = Edge(edge.edge_type, edge.to_node_id, edge.from_node_id)
        if edge in found:
            continue
        if other_way in found and other_way not in wanted:
            turned.add(other_way)
            there = found[other_way]
            yield Difference(_path(EDGES, there.place), Kind.TURNED_ROUND, None, None, _edge_name(edge))
        else:
            yield Difference(_path(EDGES, place), Kind.MISSING, None, edge_id(*edge), _edge_name(edge))
    nodes = {node.node_id for node in graph.nodes}
    for each in stored:
        name, edge = _edge_name(each.key), each.key
        if found[edge] is not each:
            yield Difference(_path(EDGES, each.place), Kind.REPEATED, _own_id(each), None, name)
        elif edge in wanted or (_is_unknown(edge, unknown) and edge.to_node_id in nodes):
            yield from _changed(EDGES, each, {**edge._asdict(), "edge_id": edge_id(*edge)}, name)
        elif edge not in turned:
            yield Difference(_path(EDGES, each.place), Kind.UNEXPECTED, _own_id(each), None, name)
    yield from _order(EDGES, list(wanted), found)


def _first(stored: Sequence[_Stored]) -> dict[Any, _Stored]:
    """The first of each by its key, in the order in which they stand."""
    found: dict[Any, _Stored] = {}
    for each in stored:
        found.setdefault(each.key, each)
    return found


def _order(name: str, wanted: Sequence[Hashable], found: Mapping[Any, _Stored]) -> Iterator[Difference]:
    known = set(wanted)
    if [key for key in wanted if key in found] != [key for key in found if key in known]:
        yield Difference(_path(name), Kind.ORDER)


def _node_members(node: Node) -> Members:
    members: dict[str, str | int] = {"node_id": node.node_id, "node_type": node.node_type}
    return members if node.turn_index is None else {**members, "turn_index": node.turn_index}


def _changed(name: str, stored: _Stored, wanted: Members, subject: str) -> Iterator[Difference]:
    """Each member that has another value, is not there, or should not be."""
    for member in dict.fromkeys((*wanted, *stored.fields)):
        if member in wanted and member in stored.fields and is_same(stored.fields[member], wanted[member]):
            continue
        there: Side = shown(stored.fields[member]) if member in stored.fields else None
        yield Difference(_path(name, stored.place, member), Kind.CHANGED, there, wanted.get(member), subject)


def is_same(stored: Any, rebuilt: str | int) -> bool:
    """Whether a stored value is the string or whole number that it should be."""
    if isinstance(rebuilt, str):
        return isinstance(stored, str) and stored == rebuilt
    return whole_number(stored) == rebuilt


def _is_unknown(edge: Edge, unknown: Collection[str]) -> bool:
    return edge.edge_type == "responds_to" and edge.from_node_id in unknown


def _own_id(stored: _Stored) -> Side:
    return shown(stored.fields["edge_id"]) if "edge_id" in stored.fields else None


def _node_name(node_id: str) -> str:
    return f"node {_named(node_id)}"


def _edge_name(edge: Edge) -> str:
    kind = edge.edge_type if edge.edge_type in EDGE_TYPES else "of another type"
    return f"edge {kind} from {_named(edge.from_node_id)} to {_named(edge.to_node_id)}"


def _named(node_id: str) -> str:
    """An id; what is none may be anything, and is not repeated."""
    return node_id if is_uuid(node_id) else "(no UUID)"


def _path(*parts: str | int) -> str:
    return json_path(("outputs", *parts))
