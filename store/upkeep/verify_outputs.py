"""What ``agent.core`` finds in the outputs of an event (CONTRACT 4 and 6), as the text of a finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agent.core.difference import Difference, Kind
from agent.core.graph_difference import NODES
from agent.core.outputs_difference import INPUTS_SHAPE, graph_of_outputs_differences, outputs_differences

_OF_THE_GRAPH: Final = {
    Kind.MISSING: "is missing",
    Kind.UNEXPECTED: "is there, which the inputs do not make",
    Kind.REPEATED: "is there twice",
    Kind.TURNED_ROUND: "is turned round",
}


def outputs_problem(payload: Mapping[str, Any], *, erased: bool) -> str | None:
    """What the outputs say otherwise than the inputs and the event; None where there is nothing."""
    found = outputs_differences(payload, erased=erased)
    if not found:
        return None
    if any(difference.kind is Kind.SHAPE or difference.path == "$.outputs" for difference in found):
        return "its outputs are not of the contract's shape"
    names = ", ".join(difference.path.removeprefix("$.outputs.") for difference in found)
    return f"its outputs say something else than its inputs: {names}"


def graph_problem(payload: Mapping[str, Any], *, erased: bool) -> str | None:
    """The first difference between the graph of the outputs and that of the inputs; None where there is none."""
    found = graph_of_outputs_differences(payload, erased=erased)
    return _text(found[0]) if found else None


def _text(difference: Difference) -> str:
    if difference == INPUTS_SHAPE:
        return "its inputs make no graph"
    if difference.kind is Kind.SHAPE:
        return "its nodes or edges are not of the contract's shape"
    of_nodes = difference.path.startswith(f"$.outputs.{NODES}")
    if difference.kind is Kind.ORDER:
        return f"its {'nodes' if of_nodes else 'edges'} stand in another order"
    if difference.kind is Kind.CHANGED:
        return f"{difference.subject} has another {'type or turn_index' if of_nodes else 'id'}"
    return f"{difference.subject} {_OF_THE_GRAPH[difference.kind]}"
