"""Where the read side reads: one store, and what is remembered of its sessions. All of it can be thrown away."""

from __future__ import annotations

from typing import NamedTuple, Self

from agent.recall.held import HeldSessions
from agent.recall.speakers import CaptureAgents
from agent.recall.walked import WalkedSessions
from agent.ruvector.reads import StoreReads


class Source(NamedTuple):
    """``reads`` is the store; the others hold what was read of it."""

    reads: StoreReads
    held: HeldSessions
    walked: WalkedSessions
    agents: CaptureAgents

    @classmethod
    def of(cls, reads: StoreReads) -> Self:
        """A source with nothing read yet."""
        return cls(reads, HeldSessions(reads), WalkedSessions(), CaptureAgents())
