"""The graph of one capture (CONTRACT 4): its nodes and edges, from a native payload whose ids are UUIDs.

Pure and linear in turns and invocations. The payload has passed validation; ids come out in lower case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from agent.core.ids import edge_id

# CONTRACT 1: what bounds the nodes of one capture.
MAX_TURNS_AND_INVOCATIONS: Final = 10_000

NODE_TYPES: Final = {"user": "prompt", "system": "prompt", "assistant": "response", "tool": "tool_invocation"}
_NOTHING: Final = (None, None)
# What a named tuple's own constructor comes to, at half its cost.
_new: Final = tuple.__new__
# Some 200 bytes each: what is kept stays below a megabyte.
_KEPT_EDGES: Final = 256
EDGE_TYPES: Final = ("belongs_to", "follows", "responds_to", "invokes")


class Node(NamedTuple):
    """A node: its id, its type, and the place in the array of the turn that it stands for or is named by first."""

    node_id: str
    node_type: str
    turn_index: int | None = None


class Edge(NamedTuple):
    """An edge from the later thing to the earlier one. Its id follows from the other three."""

    edge_type: str
    from_node_id: str
    to_node_id: str


class Graph(NamedTuple):
    """Nodes and edges of a capture, in the order of CONTRACT 4; a node id and an edge id appear once."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def nodes_json(self) -> bytes:
        """The nodes as a JSON array of NodeReferences; ``turn_index`` is absent on the session.

        Ids and types hold nothing that JSON would escape: written as they are, at a third of an encoder's cost.
        """
        (session, session_type, _), *named = self.nodes
        texts = [f'{{"node_id":"{session}","node_type":"{session_type}"}}']
        texts += [f'{{"node_id":"{node}","node_type":"{kind}","turn_index":{index}}}' for node, kind, index in named]
        return f"[{','.join(texts)}]".encode("ascii")

    def edges_json(self) -> bytes:
        """The edges as a JSON array of EdgeReferences."""
        return _edges_kept(self.edges) if len(self.edges) <= _KEPT_EDGES else _edges_json(self.edges)


def _edges_json(edges: tuple[Edge, ...]) -> bytes:
    texts = [
        f'{{"edge_id":"{edge_id(kind, start, end)}","edge_type":"{kind}",'
        f'"from_node_id":"{start}","to_node_id":"{end}"}}'
        for kind, start, end in edges
    ]
    return f"[{','.join(texts)}]".encode("ascii")


# The graph of one capture is written more than once where capture or replay and store are one process. Whole: looking
# an edge up costs a third of making it.
_edges_kept: Final = lru_cache(maxsize=16)(_edges_json)


def is_state_only(turn: Mapping[str, Any]) -> bool:
    """Whether ``turn`` carries state and is no message (CONTRACT 9): role system, empty content, and marked so.

    The skeleton of an erased turn (CONTRACT 10a) has no content, and is marked only where that was empty.
    """
    content = turn.get("content")
    is_skeleton = content is None and turn.get("erased") is True
    if turn["role"] != "system" or not (content == "" or is_skeleton):
        return False
    metadata = turn.get("metadata")
    memory = metadata.get("memory") if isinstance(metadata, dict) else None
    return isinstance(memory, dict) and memory.get("state_only") is True


def build_graph(payload: Mapping[str, Any]) -> Graph:
    """Return the graph of ``payload``, a validated native payload with UUIDs."""
    lineage = payload.get("capture_options", {}).get("create_lineage", True)
    session = payload["session_id"].lower()
    nodes = [Node(session, "session")]
    edges: list[Edge] = []
    named: set[str] = set()
    answers = _Answered()
    before: str | None = None
    for index, turn in enumerate(payload["turns"]):
        turn_id = turn["turn_id"].lower()
        nodes.append(_new(Node, (turn_id, NODE_TYPES[turn["role"]], index)))
        edges.append(_new(Edge, ("belongs_to", turn_id, session)))
        if lineage:
            # CONTRACT 1: as given, null for a root, else the one before it.
            parent = _given_parent(turn) if "parent_turn_id" in turn else before
            if parent is not None:
                edges.append(_new(Edge, ("follows", turn_id, parent)))
            target = answers.target(turn, turn_id, parent)
            if target is not None:
                edges.append(_new(Edge, ("responds_to", turn_id, target)))
        if "tool_invocations" in turn:
            edge_type = "responds_to" if turn["role"] == "tool" else "invokes"
            for invocation_id in _invocations(turn):
                if invocation_id not in named:
                    named.add(invocation_id)
                    nodes.append(_new(Node, (invocation_id, "tool_invocation", index)))
                if lineage or edge_type == "invokes":
                    edges.append(_new(Edge, (edge_type, turn_id, invocation_id)))
        before = turn_id
    return Graph(tuple(nodes), tuple(edges))


def _given_parent(turn: Mapping[str, Any]) -> str | None:
    """The parent that ``turn`` names; None where it names that it has none."""
    given: str | None = turn["parent_turn_id"]
    return given.lower() if given is not None else None


def _invocations(turn: Mapping[str, Any]) -> Iterable[str]:
    """The invocations that ``turn`` names, each once, in lower case: an edge id appears once."""
    entries = turn["tool_invocations"]
    if len(entries) == 1:  # as most have
        return (entries[0]["invocation_id"].lower(),)
    return dict.fromkeys(entry["invocation_id"].lower() for entry in entries)


class _Answered:
    """Finds what an assistant turn answers, in constant time a turn.

    CONTRACT 4, rule 3: the nearest user turn up the parent chain within the payload, else the nearest system turn
    that is not state_only. Each turn remembers both for the turns that continue it.
    """

    def __init__(self) -> None:
        self._nearest: dict[str | None, tuple[str | None, str | None]] = {}

    def target(self, turn: Mapping[str, Any], turn_id: str, parent: str | None) -> str | None:
        """What ``turn`` responds to; None for any role but assistant, and where nothing is there to answer."""
        user, system = self._nearest.get(parent, _NOTHING)
        role = turn["role"]
        if role == "user":
            self._nearest[turn_id] = (turn_id, system)
        elif role == "system" and not is_state_only(turn):
            self._nearest[turn_id] = (user, turn_id)
        else:
            self._nearest[turn_id] = (user, system)
        return (user or system) if role == "assistant" else None
