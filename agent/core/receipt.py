"""What the store says about an append (CONTRACT 10), as both sides of the port know it."""

from __future__ import annotations

from typing import NamedTuple


class TurnCounts(NamedTuple):
    """How many turns of the capture were new, known, revised, or named an erased turn."""

    new: int
    known: int
    revised: int
    erased: int

    def as_dict(self) -> dict[str, int]:
        return {"new": self.new, "known": self.known, "revised": self.revised, "erased": self.erased}


class Receipt(NamedTuple):
    """A store's acknowledgement.

    ``event_id``, ``position``, ``turns``, ``execution_ref`` and ``timestamp`` are None where the store does not say
    (the deployed service names only the event). On a duplicate the last two are the first event's.
    ``latency_ms`` is the whole time that the append took here, retries included; ``attempts`` how many were made.
    ``kept_fuller`` counts the known turns that came with another body in a narrower mode and stay as they are
    (CONTRACT 8); 0 also where the store does not say.
    """

    event_id: str | None
    duplicate: bool
    position: int | None
    turns: TurnCounts | None
    execution_ref: str | None
    timestamp: str | None
    latency_ms: int
    attempts: int = 1
    kept_fuller: int = 0
