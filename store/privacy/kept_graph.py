"""Whether an event's nodes and edges are still made of its inputs when some of its turns are skeletons (CONTRACT 4).

They nearly always are: a skeleton has all ids, the parent, the role, and whether the turn carries state alone. It lacks
invocations that another writer named by what is no id. Thousands of snapshots name the same turns, so what decides is
looked up first, and a graph is built where that leaves doubt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent.core.graph import Graph, build_graph
from agent.core.ids import is_uuid
from store.log.envelope import parse_kept
from store.log.layout import Layout

# A position and the place among the own turns of the event there.
Place = tuple[int, int]

# What a graph is made of; a reference that has it otherwise than the turn stands is not what the skeleton says.
_LOOKED_AT: Final = frozenset({"turn_id", "role", "content", "parent_turn_id", "tool_invocations", "metadata"})


def lost_names(fields: Mapping[str, Any]) -> frozenset[str]:
    """The names of a turn's invocations that its skeleton does not have, in lower case as a graph has them."""
    invocations = fields.get("tool_invocations")
    named = invocations if isinstance(invocations, list) else []
    names = (entry.get("invocation_id") for entry in named if isinstance(entry, dict))
    return frozenset(name.lower() for name in names if isinstance(name, str) and not is_uuid(name))


def is_in_doubt(layout: Layout) -> bool:
    """Whether turns of an event say otherwise than they stand elsewhere what a graph is made of."""
    return any(turn is not None and turn.without and not _LOOKED_AT.isdisjoint(turn.without) for turn in layout.turns)


def same_graph(inputs: Mapping[str, Any], before: Sequence[bytes], after: Sequence[bytes]) -> bool:
    """Whether two lists of turns make the same graph with ``inputs``."""
    return _graph(inputs, before) == _graph(inputs, after)


def _graph(inputs: Mapping[str, Any], texts: Sequence[bytes]) -> Graph | None:
    """The graph without its JSON, which costs more; None where the turns do not say enough."""
    try:
        return build_graph({**inputs, "turns": [parse_kept(text) for text in texts]})
    except KeyError:
        return None
