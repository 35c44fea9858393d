"""The event that a command line names by its ``execution_ref``, any text (CONTRACT 10)."""

from __future__ import annotations

from typing import Final

from agent.errors import StoreNotFound
from agent.ruvector.feed import FedEvent
from agent.ruvector.reads import StoreReads

# Quoted for an address, one of any script still fits into one that is taken.
_LONGEST_REF: Final = 5000


def asked_event(reads: StoreReads, execution_ref: str) -> FedEvent:
    """The event as it came. Raises StoreNotFound, which names it, where there is none."""
    if len(execution_ref) > _LONGEST_REF:
        raise StoreNotFound("no address can hold this execution ref; retrieve lists every event")
    try:
        return reads.raw_event(execution_ref)
    except StoreNotFound as error:
        message = f"there is no event {execution_ref} in this store"
        raise StoreNotFound(message, details=error.details) from error
