"""A stored event without its graph, for people: a line for each fact, and what of it cannot be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from agent.cli.memory.events.event_ids import members_of, text_of, with_native
from agent.cli.memory.events.stored_event import StoredEvent

# A damaged graph of thousands of entries is damaged by the first few.
_MOST_FAULTS: Final = 20
# As many as nobody's event has but a damaged or foreign one.
_MOST_KINDS: Final = 40


def event_facts(stored: StoredEvent) -> Iterator[tuple[str, str]]:
    """The facts in the order of the report; a fact that the event does not have is left out."""
    event, outputs = stored.event, stored.outputs
    telemetry = members_of(event.get("telemetry"))
    duration = telemetry.get("duration_ms")
    facts: list[tuple[str, Any]] = [
        ("execution ref", stored.fed.execution_ref),
        ("erased", _erased(stored)),
        ("position", stored.fed.position),
        ("type", _type(stored)),
        ("session", _named(stored.session_id, stored.inputs.get("native_session_id"))),
        ("conversation", _named(stored.conversation_id, stored.inputs.get("native_conversation_id"))),
        ("inputs hash", event.get("inputs_hash")),
        ("stored inputs hash", event.get("stored_inputs_hash")),
        ("captured at", stored.envelope.get("timestamp", event.get("timestamp"))),
        ("turns", outputs.get("turn_count", len(stored.turns) or None)),
        ("tokens", outputs.get("total_tokens")),
        ("entities", _entities(outputs.get("entities"))),
        ("redactions", _redactions(telemetry.get("redactions"))),
        ("graph", stored.graph.counts() if stored.graph.nodes or stored.graph.edges else None),
        ("constraints", _constraints(event.get("constraints_applied"))),
        ("agent", _agent(stored)),
        ("release", telemetry.get("release")),
        ("duration", None if duration is None else f"{text_of(duration)} ms"),
        ("inputs", None if stored.has_inputs or not stored.is_capture else "none: what the turns say is not known"),
    ]
    yield from ((name, text_of(value)) for name, value in facts if value is not None)
    for place, fault in enumerate(stored.faults[:_MOST_FAULTS]):
        yield "cannot be read" if place == 0 else "", fault
    if len(stored.faults) > _MOST_FAULTS:
        yield "", f"and {len(stored.faults) - _MOST_FAULTS} more"


def _erased(stored: StoredEvent) -> str | None:
    erased = sum(turn.erased for turn in stored.turns)
    if 0 < erased < len(stored.turns):
        return f"{erased} of {len(stored.turns)} turns: their content is gone"
    return "the content is gone; ids, hashes and counts are what is left" if stored.fed.is_erased or erased else None


def _type(stored: StoredEvent) -> str | None:
    """The type where it is not what every capture has."""
    decision_type = stored.event.get("decision_type")
    if stored.is_capture and decision_type in (None, stored.fed.type):
        return None
    if decision_type in (None, stored.fed.type):
        return stored.fed.type
    return f"{stored.fed.type} (decision type {text_of(decision_type)})"


def _agent(stored: StoredEvent) -> str | None:
    names = [stored.event.get("agent_id", stored.envelope.get("source")), stored.event.get("agent_version")]
    return " ".join(text_of(name) for name in names if name is not None) or None


def _named(identity: str | None, native: object) -> str | None:
    return None if identity is None else with_native(identity, native)


def _entities(found: object) -> str | None:
    """How many of each type, the most first; their texts are content."""
    if not isinstance(found, list):
        return None
    types = (members_of(each).get("type") for each in found)
    counts = Counter(each if isinstance(each, str) else "of no type" for each in types)
    return _counted([(kind, counts[kind]) for kind in sorted(counts, key=lambda kind: (-counts[kind], kind))])


def _redactions(counts: object) -> str | None:
    """How many of each kind, in the order in which they stand."""
    if not isinstance(counts, dict):
        return None if counts is None else text_of(counts)
    return _counted(list(counts.items()))


def _counted(kinds: Sequence[tuple[str, object]]) -> str:
    more = [f"and {len(kinds) - _MOST_KINDS} more"] if len(kinds) > _MOST_KINDS else []
    return ", ".join([*(f"{text_of(count)} {kind}" for kind, count in kinds[:_MOST_KINDS]), *more]) or "none"


def _constraints(applied: object) -> str | None:
    if isinstance(applied, list):
        return ", ".join(map(text_of, applied)) or None
    return None if applied is None else text_of(applied)
