"""A stored event appended to a store as it came, and what came of it: the very bytes, under the event's own key."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final, NamedTuple, Protocol

from agent.core.receipt import Receipt
from agent.errors import StoreWriteError
from agent.ruvector.feed import FedEvent

# What our store says to one event and not to all of them. The status decides.
_REFUSED: Final = {
    400: "the store does not take it as an event",
    409: "its execution_ref is there with another body",
    413: "it is larger than the store takes",
    422: "the store does not take it as an event",
}
_NEEDS_ADMIN: Final = "it is erased, and the store takes such an event from an admin key only"


class Writer(Protocol):
    """Who appends: the client."""

    def append(self, envelope: bytes, *, idempotency_key: str | None) -> Receipt: ...


class Refusal(NamedTuple):
    """The store does not take this one event: the status of its answer, and the reason."""

    status: int
    reason: str


def copy_event(writer: Writer, event: FedEvent) -> Receipt | Refusal:
    """Append ``event``. Raises what concerns more than this one event."""
    try:
        return writer.append(event.text, idempotency_key=event.key)
    except StoreWriteError as error:
        reason = _REFUSED.get(error.upstream_status)
        if event.is_erased and error.upstream_status == HTTPStatus.FORBIDDEN:
            reason = _NEEDS_ADMIN
        if reason is None:
            raise
        return Refusal(error.upstream_status, reason)
