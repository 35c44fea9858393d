"""The graph of a session over all its captures, conversations and branches (CONTRACT 4), from its turns.

It has the nodes and edges that its captures have, with what only the whole session knows: parents as the store resolved
them, what an assistant answers up the whole path and not only within one payload, and the call that a result answers
wherever it was captured (``agent.core.pairs``). Turns do not say whether their capture asked for lineage: it is drawn
here always. For a session that was captured at once, with lineage, it is the graph of that capture.

A parent that is not here, in another session or not captured yet, stays an edge to its id (CONTRACT 10), and no node is
made up for it: ``absent`` names those ids. A parent that would make a turn its own ancestor counts as none.
An erased turn is a node; the invocations that it named are gone, unless another turn names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from agent.core.graph import NODE_TYPES, Edge
from agent.core.ids import edge_id
from agent.core.pairs import Call, Place, named_invocations, paired_calls
from agent.core.paths import SessionPaths
from agent.core.turn import SessionTurn
from agent.core.walk import walk

# Of a turn whose role is not known: erased, or another writer's.
_OTHER_ROLE: Final = "prompt"


class SessionNode(NamedTuple):
    """A node; a turn is ``turn``, an invocation is the entry ``invocation`` of ``turn``, which names it first."""

    node_id: str
    node_type: str
    turn: SessionTurn | None = None
    invocation: Mapping[str, Any] | None = None


class SessionGraph(NamedTuple):
    """The nodes: the session, then each turn in ``seq`` order with the invocations that it names first; and the edges.

    ``absent``: the parents that edges lead to and that are no nodes, in the order of those edges.
    """

    session_id: str
    nodes: tuple[SessionNode, ...]
    edges: tuple[Edge, ...]
    absent: tuple[str, ...]

    def turns(self) -> Iterator[SessionTurn]:
        """The turns that are nodes, in ``seq`` order."""
        return (node.turn for node in self.nodes if node.turn is not None and node.invocation is None)

    def document(self) -> dict[str, Any]:
        """The graph as a JSON object, without content: NodeReferences and EdgeReferences with more members."""
        gone = frozenset(self.absent)
        return {
            "session_id": self.session_id,
            "nodes": [_node_members(node) for node in self.nodes],
            "edges": [
                {
                    "edge_id": edge_id(kind, start, end),
                    "edge_type": kind,
                    "from_node_id": start,
                    "to_node_id": end,
                    **({"to_absent": True} if end in gone else {}),
                }
                for kind, start, end in self.edges
            ],
        }


def session_graph(session_id: str, turns: Iterable[SessionTurn], *, conversation_id: str | None = None) -> SessionGraph:
    """The graph of a session, or of one conversation: its turns and those that they continue, wherever they are.

    ``turns`` are all that the session has, in any order; ids are in lower case. Linear in turns and invocations.
    Raises StoreNotFound for a conversation that the session does not have.
    """
    paths = SessionPaths.of(turns)
    pairs = paired_calls(paths.turns.values())
    answers = _answers(paths)
    shown = paths.turns.keys() if conversation_id is None else _of_conversation(paths, conversation_id)
    edges: list[Edge] = []
    nodes = {session_id: SessionNode(session_id, "session")}
    # Turns first: an invocation of another capture may have the id of a turn, which stays the turn's.
    taken = {session_id, *shown}
    for turn_id, turn in paths.turns.items():
        if turn_id not in shown:
            continue
        nodes[turn_id] = SessionNode(turn_id, NODE_TYPES.get(turn.role, _OTHER_ROLE), turn)
        edges.append(Edge("belongs_to", turn_id, session_id))
        edges += _lineage(turn, paths, answers)
        for invocation_id, entry in _invocations(turn, pairs):
            if invocation_id not in taken:
                taken.add(invocation_id)
                nodes[invocation_id] = SessionNode(invocation_id, "tool_invocation", turn, entry)
            edges.append(Edge("responds_to" if turn.role == "tool" else "invokes", turn_id, invocation_id))
    absent = dict.fromkeys(edge.to_node_id for edge in edges if edge.to_node_id not in nodes)
    return SessionGraph(session_id, tuple(nodes.values()), tuple(edges), tuple(absent))


def _of_conversation(paths: SessionPaths, conversation_id: str) -> set[str]:
    """The turns of a conversation, its history, and all above: a path goes on through other conversations.

    Its current leaf may stand in another conversation too (CONTRACT 10).
    """
    history = [turn.turn_id for turn in paths.path(conversation_id)]
    own = [turn.turn_id for turn in paths.turns.values() if turn.conversation_id == conversation_id]
    return {turn.turn_id for turn in paths.merged([*history, *own])}


def _lineage(turn: SessionTurn, paths: SessionPaths, answers: Mapping[str, str]) -> Iterator[Edge]:
    named = turn.parent_turn_id
    parent = paths.parents[turn.turn_id] if named in paths.turns else named
    if parent is not None:
        yield Edge("follows", turn.turn_id, parent)
    if turn.turn_id in answers:
        yield Edge("responds_to", turn.turn_id, answers[turn.turn_id])


def _answers(paths: SessionPaths) -> dict[str, str]:
    """What each assistant turn answers: the nearest user turn up its path, else the nearest system turn that speaks."""
    answers: dict[str, str] = {}
    nearest: dict[str | None, tuple[str | None, str | None]] = {None: (None, None)}
    for turn, leaving in walk(paths):
        turn_id = turn.turn_id
        if leaving:
            continue
        user, system = nearest[paths.parents[turn_id]]
        target = user or system
        if turn.role == "assistant" and target is not None:
            answers[turn_id] = target
        if turn.role == "user":
            user = turn_id
        elif turn.role == "system" and not turn.is_state_only:
            system = turn_id
        nearest[turn_id] = (user, system)
    return answers


def _invocations(turn: SessionTurn, pairs: Mapping[Place, Call]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The invocations that ``turn`` names, each once: an edge id appears once. A result names the call it answers."""
    named: dict[str, Mapping[str, Any]] = {}
    for place, invocation_id, entry in named_invocations(turn):
        call = pairs.get(place)
        named.setdefault(invocation_id if call is None else call.invocation_id, entry)
    yield from named.items()


def _node_members(node: SessionNode) -> dict[str, Any]:
    members: dict[str, Any] = {"node_id": node.node_id, "node_type": node.node_type}
    turn = node.turn
    if turn is None:
        return members
    members["turn_id"] = turn.turn_id
    if node.invocation is not None:
        tool_name = node.invocation.get("tool_name")
        # Another writer's may be anything.
        return {**members, "tool_name": tool_name} if isinstance(tool_name, str) else members
    members |= {"role": turn.role, "seq": turn.seq, "conversation_id": turn.conversation_id}
    if turn.erased:
        members["erased"] = True
    if turn.is_state_only:
        members["state_only"] = True
    return members
