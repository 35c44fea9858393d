"""What stays of an event that is emptied whole (CONTRACT 10a): ids, hashes, counts, times, and names of the contract.

An event may be of any writer, so a member stays by its name and by what it is. What finds an event stays as it is: its
type, ``runId``, agent, decision type and ``inputs_hash``, without which a late redelivery would be a new event. Any
other text goes, under whatever name it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from agent.core.agent_identity import AGENT_ID
from agent.core.contract_version import kept_version
from agent.core.decision import DECISION_TYPE
from agent.core.ids import is_uuid
from agent.core.timestamps import is_date_time

Rules = Mapping[str, Callable[[Any], bool]]

_VERSION: Final = re.compile(r"\d{1,4}\.\d{1,4}\.\d{1,4}\Z", re.ASCII)
_SHA256: Final = re.compile(r"[0-9a-f]{64}\Z", re.ASCII)
_KIND: Final = re.compile(r"[a-z][a-z0-9_]{0,31}\Z", re.ASCII)

# CONTRACT 4 and 6.
_NODE_TYPES: Final = frozenset({"session", "prompt", "response", "tool_invocation"})
_EDGE_TYPES: Final = frozenset({"belongs_to", "follows", "responds_to", "invokes"})
_CONSTRAINTS: Final = frozenset(
    {
        "lineage_creation_enabled",
        "entity_extraction_enabled",
        "embedding_computation_deferred",
        "ids_derived",
        "content_redacted",
        "content_omitted",
    }
)
_MEASURES: Final = ("duration_ms", "memory_bytes", "ruvector_latency_ms")


def reduced(document: dict[str, Any], *, makes_turns: bool) -> dict[str, Any]:
    """What stays of an envelope; ``document`` has no ``inputs.turns`` where it ``makes_turns``."""
    payload = document["payload"]
    kept = _only(payload, _PAYLOAD)
    if payload.get("execution_ref") == document["runId"] or is_uuid(payload.get("execution_ref")):
        kept["execution_ref"] = payload["execution_ref"]
    if makes_turns:
        # By the rule of those who read the skeleton, so that it says to them what the event said.
        version = kept_version(payload.get("agent_version"))
        kept |= {} if version is None else {"agent_version": version}
        kept |= _only(payload, _CAPTURE)
        applied = payload.get("constraints_applied")
        if isinstance(applied, list):
            kept["constraints_applied"] = [name for name in applied if _is_one_of(name, _CONSTRAINTS)]
        if isinstance(payload.get("telemetry"), dict):
            kept["telemetry"] = _measures(payload["telemetry"], ours=_is_ours(document))
    places: tuple[tuple[str, Rules], ...] = (("outputs", _OUTPUTS if makes_turns else _IDS), ("inputs", _IDS))
    for name, rules in places:
        if isinstance(payload.get(name), dict):
            kept[name] = _only(payload[name], rules)
    envelope = {name: document[name] for name in ("type", "runId", "timestamp")}
    # A name that says no more than the agent's; of another writer it is free text.
    if "source" in document and document["source"] == payload.get("agent_id"):
        envelope["source"] = document["source"]
    return {**envelope, "payload": kept}


def _only(members: dict[str, Any], rules: Rules) -> dict[str, Any]:
    return {name: members[name] for name, holds in rules.items() if name in members and holds(members[name])}


def _is_ours(document: dict[str, Any]) -> bool:
    payload = document["payload"]
    kinds = (document["type"], payload.get("decision_type"))
    return kinds == (DECISION_TYPE, DECISION_TYPE) and payload.get("agent_id") == AGENT_ID


def _measures(telemetry: dict[str, Any], *, ours: bool) -> dict[str, Any]:
    kept = {name: telemetry[name] for name in _MEASURES if _is_count(telemetry.get(name))}
    if not ours:
        return kept
    if _is_version(telemetry.get("release")):
        kept["release"] = telemetry["release"]
    redactions = telemetry.get("redactions")
    if isinstance(redactions, dict):
        kept["redactions"] = {
            kind: count for kind, count in redactions.items() if _KIND.match(kind) and _is_count(count)
        }
    return kept


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_one_of(value: Any, names: frozenset[str]) -> bool:
    return isinstance(value, str) and value in names


def _is_version(value: Any) -> bool:
    return isinstance(value, str) and _VERSION.match(value) is not None


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and _SHA256.match(value) is not None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_share(value: Any) -> bool:
    # A number with a fraction is of a type of the parser's (store.log.envelope).
    if value is None or isinstance(value, (bool, str, list, dict)):
        return False
    # An integer may have more digits than a float holds.
    return 0 <= (value if isinstance(value, int) else float(value)) <= 1


def _are_nodes(value: Any) -> bool:
    return _are_all(
        value,
        {"node_id": is_uuid, "node_type": lambda name: _is_one_of(name, _NODE_TYPES), "turn_index": _is_count},
    )


def _are_edges(value: Any) -> bool:
    return _are_all(
        value,
        {
            "edge_id": is_uuid,
            "edge_type": lambda name: _is_one_of(name, _EDGE_TYPES),
            "from_node_id": is_uuid,
            "to_node_id": is_uuid,
        },
    )


def _are_all(value: Any, rules: Rules) -> bool:
    """Whether ``value`` is a list of objects that say nothing but what the rules let them say."""
    return isinstance(value, list) and all(
        isinstance(entry, dict) and all(name in rules and rules[name](entry[name]) for name in entry) for entry in value
    )


_PAYLOAD: Final[Rules] = {
    "agent_id": _is_text,
    "decision_type": _is_text,
    "inputs_hash": _is_text,
    "timestamp": is_date_time,
}
_CAPTURE: Final[Rules] = {"stored_inputs_hash": _is_hash, "confidence": _is_share}
_IDS: Final[Rules] = {"session_id": is_uuid, "conversation_id": is_uuid}
_OUTPUTS: Final[Rules] = {
    **_IDS,
    "nodes_created": _are_nodes,
    "edges_created": _are_edges,
    "capture_timestamp": is_date_time,
    "turn_count": _is_count,
    "total_tokens": _is_count,
}
