"""What is known of the store's health, as the function's own health answer shows it (CONTRACT 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """``ok``: it answered 2xx; ``error``: it answered something else; ``unreachable``: it did not answer in time.

    ``latency_ms`` is what the question took, answered or not; ``kind`` is that of the client (embedded or http).
    """

    status: Literal["ok", "unreachable", "error"]
    latency_ms: int
    kind: str
