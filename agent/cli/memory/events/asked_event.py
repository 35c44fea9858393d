"""The event that a command line names by its ``execution_ref``, any text (CONTRACT 10)."""

from __future__ import annotations

from typing import Final

from agent.errors import StoreNotFound
from agent.ruvector.feed import FedEvent
from agent.ruvector.reads import StoreReads

# Quoted for an address, one of any script still fits into one that is taken.
_LONGEST_REF: Final = 5000
_NO_SEGMENT: Final = ("", ".", "..")
_WHERE_TO_LOOK: Final = "retrieve lists every event"


def asked_event(reads: StoreReads, execution_ref: str, *, shown: bool) -> FedEvent:
    """The event as it came. Raises StoreNotFound, which names it, where there is none.

    ``shown``: it is printed, so what is no JSON by the letter is refused.
    """
    if not _is_addressed(execution_ref):
        raise StoreNotFound(f"no address can hold this execution ref; {_WHERE_TO_LOOK}")
    try:
        return reads.raw_event(execution_ref, shown=shown)
    except StoreNotFound as error:
        message = f"there is no event {execution_ref} in this store; {_WHERE_TO_LOOK}"
        raise StoreNotFound(message, details=error.details) from error


def _is_addressed(execution_ref: str) -> bool:
    """Whether an address can hold it: a store cannot be asked for any other."""
    try:
        execution_ref.encode()
    except UnicodeEncodeError:
        return False
    return execution_ref not in _NO_SEGMENT and len(execution_ref) <= _LONGEST_REF
