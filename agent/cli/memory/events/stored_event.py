"""A stored event read member by member, whoever wrote it and whatever became of it.

An event may be of another agent, be erased, or be damaged. What is as CONTRACT 6 says is read; what is not is named in
``faults`` by its path and left out. Nothing here fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from agent.cli.memory.capturing.answer import Edge, Node
from agent.cli.memory.drawings.graph_parts import GraphParts
from agent.cli.memory.events.event_ids import conversation_of, members_of, session_of
from agent.cli.raw_json import decoded, value_of
from agent.core.decision import DECISION_TYPE
from agent.recall.drawings.shown_turn import ShownTurn
from agent.ruvector.feed import FedEvent

Entry = TypeVar("Entry", bound=BaseModel)

_NO_OBJECT: Final = "is no object"
_NO_LIST: Final = "is no list"


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """``envelope`` and ``event`` as they stand; ``graph`` and ``turns`` as far as they can be read.

    ``is_capture``: it says that it is a capture. ``has_inputs``: what was captured is there, erased or not.
    """

    fed: FedEvent
    envelope: Mapping[str, Any]
    event: Mapping[str, Any]
    outputs: Mapping[str, Any]
    inputs: Mapping[str, Any]
    graph: GraphParts
    turns: tuple[ShownTurn, ...]
    is_capture: bool
    has_inputs: bool
    faults: tuple[str, ...]

    @classmethod
    def of(cls, fed: FedEvent) -> StoredEvent:
        """Read what the store gave."""
        envelope = members_of(value_of(decoded(fed.text)))
        # A bare DecisionEvent stands for its envelope (CONTRACT 10).
        is_bare = "payload" not in envelope and "decision_type" in envelope
        event = envelope if is_bare else members_of(envelope.get("payload"))
        root = "$" if is_bare else "$.payload"
        is_capture = fed.type == DECISION_TYPE
        faults: list[str] = []
        if not is_bare and not isinstance(envelope.get("payload"), dict):
            faults.append(f"{root} {_NO_OBJECT}")
        outputs = _object(event, "outputs", root, faults, needed=is_capture and not fed.is_erased)
        inputs = _object(event, "inputs", root, faults, needed=False)
        place = f"{root}.outputs"
        needed = is_capture and "outputs" in event
        nodes = tuple(_entries(Node, _list(outputs, "nodes_created", place, faults, needed=needed), faults))
        edges = tuple(_entries(Edge, _list(outputs, "edges_created", place, faults, needed=needed), faults))
        # Only what is wrong with them: how many there are of each type is for the facts.
        _list(outputs, "entities", place, faults, needed=False)
        turns = _list(inputs, "turns", f"{root}.inputs", faults, needed=is_capture and bool(inputs))
        faults += (f"{path} {_NO_OBJECT}" for path, turn in turns if not isinstance(turn, dict))
        session_id = outputs.get("session_id")
        return cls(
            fed=fed,
            envelope=envelope,
            event=event,
            outputs=outputs,
            inputs=inputs,
            graph=GraphParts(session_id if isinstance(session_id, str) else session_of(event) or "?", nodes, edges),
            turns=tuple(ShownTurn.of(turn) for _, turn in turns),
            is_capture=is_capture,
            has_inputs=isinstance(event.get("inputs"), dict),
            faults=tuple(faults),
        )

    @property
    def session_id(self) -> str | None:
        """The session that the store counts it to."""
        return session_of(self.event)

    @property
    def conversation_id(self) -> str | None:
        """The conversation that the store counts it to."""
        return conversation_of(self.event)


def _object(members: Mapping[str, Any], name: str, root: str, faults: list[str], *, needed: bool) -> Mapping[str, Any]:
    value = members.get(name)
    if isinstance(value, dict):
        return value
    if name in members or needed:
        faults.append(f"{root}.{name} {_NO_OBJECT if name in members else 'is missing'}")
    return {}


def _list(
    members: Mapping[str, Any], name: str, root: str, faults: list[str], *, needed: bool
) -> list[tuple[str, Any]]:
    """The items of a list, each with its path."""
    value = members.get(name)
    if isinstance(value, list):
        return [(f"{root}.{name}[{index}]", item) for index, item in enumerate(value)]
    if name in members or needed:
        faults.append(f"{root}.{name} {_NO_LIST if name in members else 'is missing'}")
    return []


def _entries(model: type[Entry], items: list[tuple[str, Any]], faults: list[str]) -> Iterator[Entry]:
    for path, item in items:
        try:
            yield model.model_validate(item, strict=True)
        except ValidationError:
            faults.append(f"{path} is no {model.__name__.lower()}")
