"""Where the outputs of an event are not what its inputs make (CONTRACT 4 and 6).

Asked of events of our own agent alone: what another writer calls nodes and edges is its own affair. Of an event that
was erased, or in part, all that the skeleton tells is looked at. ``event`` is the payload of an envelope, whatever it
holds: nothing here raises for what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent.core.decision import CONSTRAINTS
from agent.core.difference import Difference, Kind, shown
from agent.core.graph import Graph, build_graph
from agent.core.graph_difference import EDGES, NODES, graph_differences, is_same, is_same_graph
from agent.core.json_path import json_path
from agent.core.numbers import whole_number

_LINEAGE: Final = CONSTRAINTS[0]
_OTHERS: Final = frozenset({NODES, EDGES, "entities"})
# What a document that is no payload of CONTRACT 1 may meet.
NOT_A_PAYLOAD: Final = (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError)
INPUTS_SHAPE: Final = Difference("$.inputs", Kind.SHAPE)


def outputs_differences(event: Mapping[str, Any], *, erased: bool = False) -> list[Difference]:
    """What the members of the outputs say otherwise, but for the graph and for ``entities``.

    What was found in content cannot be found again where content is gone, nor by a release that does not look for it.
    """
    outputs = event.get("outputs")
    if not isinstance(outputs, dict):
        return [Difference("$.outputs", Kind.SHAPE if "outputs" in event else Kind.MISSING)]
    try:
        wanted = _members(event, erased=erased)
    except NOT_A_PAYLOAD:
        return [INPUTS_SHAPE]
    left_out = {*_OTHERS, "total_tokens"} if erased else _OTHERS
    return [
        *_wrong(outputs, wanted),
        *(
            Difference(_path(name), Kind.UNEXPECTED, shown(value))
            for name, value in outputs.items()
            if name not in wanted and name not in left_out
        ),
    ]


def graph_of_outputs_differences(event: Mapping[str, Any], *, erased: bool = False) -> list[Difference]:
    """Where the nodes and edges of the outputs are not those that the inputs make."""
    try:
        graph = build_graph(_as_it_was(event) if erased else event["inputs"])
        # Skeletons of the first release do not say which system turns are no messages: what was answered.
        unknown = _answering(event["inputs"]["turns"]) if erased else frozenset()
    except NOT_A_PAYLOAD:
        return [INPUTS_SHAPE]
    outputs = event.get("outputs")
    if not isinstance(outputs, dict):
        # Told by outputs_differences.
        return []
    return _graph_differences(graph, outputs, unknown)


def _graph_differences(graph: Graph, outputs: Mapping[str, Any], unknown: frozenset[str]) -> list[Difference]:
    nodes, edges = outputs.get(NODES), outputs.get(EDGES)
    if is_same_graph(graph, nodes, edges):
        return []
    return graph_differences(graph, nodes, edges, unknown=unknown)


def _members(event: Mapping[str, Any], *, erased: bool) -> dict[str, Any]:
    inputs = event["inputs"]
    turns = inputs["turns"]
    wanted = {
        "capture_timestamp": event.get("timestamp"),
        "turn_count": len(turns),
        "session_id": inputs["session_id"].lower(),
        "conversation_id": inputs["conversation_id"].lower(),
    }
    total = None if erased else _total_tokens(turns)
    return wanted if total is None else {**wanted, "total_tokens": total}


def _wrong(outputs: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[Difference]:
    for name, value in wanted.items():
        if name not in outputs:
            yield Difference(_path(name), Kind.MISSING, None, shown(value))
        elif not (isinstance(value, str | int) and is_same(outputs[name], value)):
            yield Difference(_path(name), Kind.CHANGED, shown(outputs[name]), shown(value))


def _total_tokens(turns: list[Mapping[str, Any]]) -> int | None:
    """The sum over turns that carry ``token_usage``; None if none does. Raises for what is no count."""
    totals = [whole_number(turn["token_usage"]["total_tokens"]) for turn in turns if "token_usage" in turn]
    counts = [total for total in totals if total is not None]
    if len(counts) < len(totals):
        raise ValueError("a count of tokens is no whole number")
    return sum(counts) if counts else None


def _as_it_was(event: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs whose graph is that of an erased event's, but for what assistants answered."""
    inputs = event["inputs"]
    turns = [{"content": None, **turn} for turn in inputs["turns"]]
    options = {"create_lineage": _LINEAGE in event["constraints_applied"]}
    return {"session_id": inputs["session_id"], "capture_options": options, "turns": turns}


def _answering(turns: list[Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(turn["turn_id"].lower() for turn in turns if turn["role"] == "assistant")


def _path(name: str) -> str:
    return json_path(("outputs", name))
