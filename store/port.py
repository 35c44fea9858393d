"""The store as the HTTP surface sees it: one protocol, and the shapes that cross it. Engines implement it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from agent.core.receipt import TurnCounts
from store.capture import SentCapture
from store.envelope import Envelope
from store.event_body import EventBody

DEFAULT_LIMIT = 100
MAX_LIMIT = 1000


@dataclass(frozen=True, slots=True)
class Submission:
    """One write as it came, with the body to keep. ``capture`` is None where the event makes no turns, ``caller_key``
    where none was sent.

    ``event_id`` becomes the event's id if it is new; ``received_at`` is the store's own clock.
    """

    envelope: Envelope
    capture: SentCapture | None
    body: EventBody
    caller_key: str | None
    event_id: str
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Appended:
    """The receipt of CONTRACT 10. On a duplicate everything but ``turns`` is the first event's."""

    duplicate: bool
    event_id: str
    execution_ref: str
    timestamp: str
    position: int
    turns: TurnCounts


@dataclass(frozen=True, slots=True)
class EventsQuery:
    """Events in ``position`` order beyond ``after`` (below it where ``descending``), at most ``limit``."""

    session_id: bytes | None = None
    limit: int = DEFAULT_LIMIT
    after: int | None = None
    descending: bool = False


@dataclass(frozen=True, slots=True)
class EventPage:
    """JSON envelopes with their ``position``; ``last`` is the position to go on from, None where nothing follows."""

    events: tuple[bytes, ...]
    last: int | None


@dataclass(frozen=True, slots=True)
class TurnsQuery:
    """Turns of one session in ``seq`` order; every bound that is None does not hold.

    ``last`` takes the newest of what the bounds leave; ``limit`` then keeps the first of these.
    """

    session_id: bytes
    limit: int = DEFAULT_LIMIT
    after_seq: int | None = None
    before_seq: int | None = None
    at_seq: int | None = None
    changed_after: int | None = None
    last: int | None = None
    conversation_id: bytes | None = None


class Store(Protocol):
    """An engine. For what it or the caller does wrong every method raises a StoreAnswerError and nothing else.

    ``timeout_s`` bounds what a call waits for other writers, all waits together, where it is less than the engine's
    own bound. The work itself it does not bound.
    """

    kind: str

    def append(self, submission: Submission, *, timeout_s: float | None = None) -> Appended:
        """Keep the event, its turns and its session row together, or none of them. Returns after it is durable."""

    def event(self, execution_ref: str, *, timeout_s: float | None = None) -> bytes:
        """The JSON envelope with its ``position``. Raises NotFound."""

    def events(self, query: EventsQuery, *, timeout_s: float | None = None) -> EventPage:
        """One page of events."""

    def turns(self, query: TurnsQuery, *, timeout_s: float | None = None) -> tuple[bytes, ...]:
        """JSON records of turns; fewer than asked where they are large, and then a caller goes on by ``after_seq``.

        Raises NotFound for a session without turns.
        """

    def ping(self, *, timeout_s: float | None = None) -> None:
        """Return if a write would be taken now; raises Unavailable otherwise."""

    def close(self) -> None:
        """Let go of files. A later call opens them again."""
