"""The DecisionEvent (CONTRACT 6): what one capture decided, and its encodings.

Outputs are encoded once; the envelope to the store and both copies in the answer share those bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from agent.core.agent_identity import AGENT_ID, AGENT_VERSION
from agent.core.graph import Graph, build_graph

DECISION_TYPE: Final = "conversation_capture"
# All there are, in the order in which an event names them (CONTRACT 6).
CONSTRAINTS: Final = (
    "lineage_creation_enabled",
    "entity_extraction_enabled",
    "embedding_computation_deferred",
    "ids_derived",
    "content_redacted",
    "content_omitted",
)

# Those of them that say in which mode content is kept.
CONTENT_CONSTRAINTS: Final = CONSTRAINTS[-2:]


class Inputs(NamedTuple):
    """What was captured: the JSON text that is stored, its hash, and the hash of what was sent (CONTRACT 5)."""

    text: bytes
    stored_hash: str
    sent_hash: str


class Outputs(NamedTuple):
    """The outputs of a capture: the graph and its counts, without the clock."""

    conversation_id: str
    session_id: str
    graph: Graph
    turn_count: int
    total_tokens: int | None
    nodes_json: orjson.Fragment
    edges_json: orjson.Fragment
    entities: Sequence[Mapping[str, Any]] | None = None

    @classmethod
    def of(cls, payload: Mapping[str, Any], *, entities: Sequence[Mapping[str, Any]] | None = None) -> Outputs:
        """Build the outputs of ``payload``, a validated native payload with UUIDs; ``entities`` are what it names."""
        graph = build_graph(payload)
        return cls(
            conversation_id=payload["conversation_id"].lower(),
            session_id=payload["session_id"].lower(),
            graph=graph,
            turn_count=len(payload["turns"]),
            total_tokens=_total_tokens(payload),
            nodes_json=orjson.Fragment(graph.nodes_json()),
            edges_json=orjson.Fragment(graph.edges_json()),
            entities=entities,
        )

    def encode(self, capture_timestamp: str) -> bytes:
        """JSON bytes of the outputs at ``capture_timestamp``, an RFC 3339 instant in UTC."""
        fields: dict[str, Any] = {
            "conversation_id": self.conversation_id,
            "session_id": self.session_id,
            "nodes_created": self.nodes_json,
            "edges_created": self.edges_json,
            "capture_timestamp": capture_timestamp,
            "turn_count": self.turn_count,
        }
        if self.total_tokens is not None:
            # A sum of 64-bit counts may leave 64 bits, which orjson refuses.
            fields["total_tokens"] = orjson.Fragment(str(self.total_tokens).encode())
        if self.entities is not None:
            fields["entities"] = self.entities
        return orjson.dumps(fields)


class DecisionEvent(NamedTuple):
    """One capture's event. ``outputs`` are encoded JSON; ``timestamp`` is theirs too.

    ``telemetry`` are integers and our release, and ``redactions`` (kind to count) where content was redacted.
    """

    inputs: Inputs
    outputs: bytes
    constraints_applied: tuple[str, ...]
    execution_ref: str
    timestamp: str
    telemetry: Mapping[str, Any]

    def envelope(self) -> bytes:
        """The body of the write (CONTRACT 10), with ``inputs`` as the text that was captured."""
        payload = self._shared()
        payload["inputs"] = orjson.Fragment(self.inputs.text)
        payload["stored_inputs_hash"] = self.inputs.stored_hash
        payload["telemetry"] = dict(self.telemetry)
        return orjson.dumps(
            {
                "type": DECISION_TYPE,
                "runId": self.execution_ref,
                "source": AGENT_ID,
                "timestamp": self.timestamp,
                "payload": payload,
            }
        )

    def answer(self, ruvector_latency_ms: int) -> dict[str, Any]:
        """The event as the answer shows it: without ``inputs``, with the latency of the write."""
        fields = self._shared()
        fields["stored_inputs_hash"] = self.inputs.stored_hash
        fields["telemetry"] = {**self.telemetry, "ruvector_latency_ms": ruvector_latency_ms}
        return fields

    def replayed(self, outputs: bytes, execution_ref: str, timestamp: str) -> dict[str, Any]:
        """The first event of this payload, as far as the store names it: this run's measurements are not its.

        How narrow its content is kept is not said: the mode may have been another, and the function reads nothing.
        """
        return {
            **self._shared(),
            "constraints_applied": [name for name in self.constraints_applied if name not in CONTENT_CONSTRAINTS],
            "outputs": orjson.Fragment(outputs),
            "execution_ref": execution_ref,
            "timestamp": timestamp,
        }

    def _shared(self) -> dict[str, Any]:
        return {
            "agent_id": AGENT_ID,
            "agent_version": AGENT_VERSION,
            "decision_type": DECISION_TYPE,
            "inputs_hash": self.inputs.sent_hash,
            "outputs": orjson.Fragment(self.outputs),
            "confidence": 1.0,
            "constraints_applied": self.constraints_applied,
            "execution_ref": self.execution_ref,
            "timestamp": self.timestamp,
        }


def constraints_applied(payload: Mapping[str, Any], *, ids_derived: bool, content: str = "full") -> tuple[str, ...]:
    """The constraints that hold for ``payload``, in the order of CONTRACT 6; ``content`` is the mode that held."""
    options = payload.get("capture_options", {})
    held = {
        "lineage_creation_enabled": options.get("create_lineage", True),
        "entity_extraction_enabled": options.get("extract_entities", False),
        "embedding_computation_deferred": options.get("compute_embeddings", False),
        "ids_derived": ids_derived,
        "content_redacted": content == "redacted",
        "content_omitted": content == "none",
    }
    return tuple(name for name, holds in held.items() if holds)


def _total_tokens(payload: Mapping[str, Any]) -> int | None:
    """The sum over turns that carry ``token_usage``; None if none does. 1.0 counts as 1 (CONTRACT 1)."""
    totals = [int(turn["token_usage"]["total_tokens"]) for turn in payload["turns"] if "token_usage" in turn]
    return sum(totals) if totals else None
