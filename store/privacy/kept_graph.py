"""Whether an event's nodes and edges are still made of its inputs when some of its turns are skeletons (CONTRACT 4).

They nearly always are: a skeleton has all ids, the parent and the role. It lacks whether a system turn carried state
alone, which is then no target of ``responds_to``, and invocations that another writer named by what is no id. Thousands
of snapshots name the same turns, so what decides is looked up first, and a graph is built where that leaves doubt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from agent.core.graph import Graph, build_graph, is_state_only
from agent.core.ids import is_uuid
from store.log.envelope import parse_kept
from store.log.layout import Layout

# A position and the place among the own turns of the event there.
Place = tuple[int, int]

# What a graph is made of; a reference that has it otherwise than the turn stands is not what ``Sketch`` says.
_LOOKED_AT: Final = frozenset({"turn_id", "role", "content", "parent_turn_id", "tool_invocations", "metadata"})


class Sketch(NamedTuple):
    """What decides which turn is up the path of another. ``parent`` counts where ``names_parent``."""

    turn_id: str
    is_user: bool
    names_parent: bool
    parent: str | None

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Sketch:
        """The sketch of a turn that the store took."""
        parent: str | None = fields.get("parent_turn_id")
        is_user = fields.get("role") == "user"
        return cls(fields["turn_id"].lower(), is_user, "parent_turn_id" in fields, parent and parent.lower())


@dataclass(frozen=True, slots=True)
class Doubt:
    """What a skeleton does not say. ``names``: those of invocations. ``state_alone``: that, and nothing else."""

    names: frozenset[str]
    state_alone: bool


def doubt_of(fields: Mapping[str, Any]) -> Doubt | None:
    """What the skeleton of a turn leaves in doubt; None where it says all that a graph is made of."""
    invocations = fields.get("tool_invocations")
    named = invocations if isinstance(invocations, list) else []
    ids = [entry.get("invocation_id") if isinstance(entry, dict) else None for entry in named]
    has_ids = all(map(is_uuid, ids))
    if has_ids and fields.get("role") != "system":
        return None
    names = frozenset(name.lower() for name in ids if isinstance(name, str) and not is_uuid(name))
    try:
        same = is_state_only(fields) == is_state_only({"role": "system"})
    except KeyError:
        # Of a turn without content no graph is made.
        return Doubt(names, state_alone=False)
    return None if same and has_ids else Doubt(names, state_alone=has_ids)


def is_in_doubt(layout: Layout, position: int, doubts: Mapping[Place, Doubt], sketches: Mapping[Place, Sketch]) -> bool:
    """Whether skeletons of the turns ``doubts`` could make another graph of the event at ``position``.

    ``sketches`` are those of all own turns of the session. A turn with a user turn up its path decides nothing by what
    it is: all that continue it respond to that user turn, or to a later one (rule 3).
    """
    if any(turn is not None and turn.without and not _LOOKED_AT.isdisjoint(turn.without) for turn in layout.turns):
        return True
    if not doubts:
        return False
    if not all(doubt.state_alone for doubt in doubts.values()):
        return True
    places = list(_in_order(layout, position))
    path = _Path(places, sketches)
    return any(place in doubts and not path.has_user_above(index) for index, place in enumerate(places))


def same_graph(inputs: Mapping[str, Any], before: Sequence[bytes], after: Sequence[bytes]) -> bool:
    """Whether two lists of turns make the same graph with ``inputs``."""
    return _graph(inputs, before) == _graph(inputs, after)


def _graph(inputs: Mapping[str, Any], texts: Sequence[bytes]) -> Graph | None:
    """The graph without its JSON, which costs more; None where the turns do not say enough."""
    try:
        return build_graph({**inputs, "turns": [parse_kept(text) for text in texts]})
    except KeyError:
        return None


def _in_order(layout: Layout, position: int) -> Iterator[Place]:
    """Where each turn of an event stands, in the order of ``inputs.turns``."""
    own_index = 0
    for turn in layout.turns:
        if turn is None:
            yield position, own_index
            own_index += 1
        else:
            yield turn[:2]


class _Path:
    """The paths up from the turns of one event, within it."""

    def __init__(self, places: Sequence[Place], sketches: Mapping[Place, Sketch]) -> None:
        self._places = places
        self._sketches = sketches
        self._indexes: dict[str, int] | None = None

    def has_user_above(self, index: int) -> bool:
        """Whether a user turn is up the path of the turn at ``index``."""
        while True:
            above = self._above(index)
            # A turn that comes later in the payload is up nobody's path (CONTRACT 1).
            if above is None or not 0 <= above < index:
                return False
            if self._sketches[self._places[above]].is_user:
                return True
            index = above

    def _above(self, index: int) -> int | None:
        sketch = self._sketches[self._places[index]]
        if not sketch.names_parent:
            return index - 1
        if self._indexes is None:
            self._indexes = {self._sketches[place].turn_id: at for at, place in enumerate(self._places)}
        return None if sketch.parent is None else self._indexes.get(sketch.parent)
