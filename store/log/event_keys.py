"""What an event is found by: its ``execution_ref``, its payload, the caller keys bound to it (CONTRACT 10).

All three stand in one table as 16-byte digests of tenant, kind and value. That is one index of short keys instead of
three of long ones, two pages less an append; and a value of any length, an ``execution_ref`` of a megabyte too, costs
the same. A collision would take about 2^64 tries.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

import orjson

from store.log.envelope import Envelope

_DIGEST_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class EventKeys:
    """What a submission would be found by; None where it has no such thing."""

    execution_ref: bytes
    payload: bytes | None
    caller: bytes | None

    @classmethod
    def of(cls, tenant: str, envelope: Envelope, idempotency_key: str | None) -> EventKeys:
        """The keys of ``envelope``; ``idempotency_key`` is the caller's own."""
        agent_id, kind, inputs_hash = envelope.agent_id, envelope.decision_type, envelope.inputs_hash
        identified = agent_id is not None and kind is not None and inputs_hash is not None
        return cls(
            execution_ref_key(tenant, envelope.execution_ref),
            payload_key(tenant, agent_id or "", kind or "", inputs_hash or "") if identified else None,
            None if idempotency_key is None else caller_key(tenant, idempotency_key),
        )

    def all(self) -> list[bytes]:
        """Those that it has."""
        return [key for key in (self.execution_ref, self.payload, self.caller) if key is not None]


def execution_ref_key(tenant: str, execution_ref: str) -> bytes:
    """The key of an event by its ``execution_ref``, a UUID in lower case."""
    return _digest([tenant, "execution_ref", execution_ref])


def payload_key(tenant: str, agent_id: str, decision_type: str, inputs_hash: str) -> bytes:
    """The key of the one event with this payload."""
    return _digest([tenant, "payload", agent_id, decision_type, inputs_hash])


def caller_key(tenant: str, idempotency_key: str) -> bytes:
    """The key that a caller bound to an event by ``Idempotency-Key``."""
    return _digest([tenant, "caller", idempotency_key])


def _digest(parts: list[str]) -> bytes:
    # JSON, so that no two lists of parts give the same bytes.
    return hashlib.sha256(orjson.dumps(parts)).digest()[:_DIGEST_BYTES]
