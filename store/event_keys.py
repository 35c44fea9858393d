"""What an event is found by: its ``execution_ref``, its payload, the caller keys bound to it (CONTRACT 10).

All three stand in one table as 16-byte digests of tenant, kind and value. That is one index of short keys instead of
three of long ones, two pages less an append; and a value of any length, an ``execution_ref`` of a megabyte too, costs
the same. A collision would take about 2^64 tries.
"""

from __future__ import annotations

import hashlib
from typing import Final

import orjson

_DIGEST_BYTES: Final = 16


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
