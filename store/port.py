"""The store as the HTTP surface sees it: one protocol, and the shapes that cross it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from agent.core.receipt import TurnCounts
from store.log.capture import SentCapture
from store.log.envelope import Envelope

DEFAULT_LIMIT = 100
MAX_LIMIT = 1000
DEFAULT_TENANT = "default"


@dataclass(frozen=True, slots=True)
class Submission:
    """One write as it came. ``capture`` is None where the event makes no turns, ``caller_key`` where none was sent.

    ``event_id`` becomes the event's id if it is new; ``received_at`` is the store's own clock.
    """

    envelope: Envelope
    capture: SentCapture | None
    caller_key: str | None
    event_id: str
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Appended:
    """The receipt of CONTRACT 10. On a duplicate everything but ``turns`` is the first event's.

    ``kept_fuller`` counts the known turns that came with another body in a narrower mode and stay as they are
    (CONTRACT 8): none for a duplicate, which writes nothing.
    """

    duplicate: bool
    event_id: str
    execution_ref: str
    timestamp: str
    position: int
    turns: TurnCounts
    kept_fuller: int = 0


@dataclass(frozen=True, slots=True)
class EventsQuery:
    """Events in ``position`` order beyond ``after`` (below it where ``descending``), at most ``limit``.

    ``types`` are of the envelope; ``from_us`` (inclusive) and ``to_us`` (exclusive) bound the instant of capture, in
    microseconds since 1970. What is None does not hold.
    """

    session_id: bytes | None = None
    conversation_id: bytes | None = None
    agent_id: str | None = None
    decision_type: str | None = None
    types: tuple[str, ...] | None = None
    from_us: int | None = None
    to_us: int | None = None
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


@dataclass(frozen=True, slots=True)
class SessionsCursor:
    """Where a list of sessions goes on: below ``activity_us`` and ``session_key``, as the log was at ``position``."""

    position: int
    activity_us: int
    session_key: int


@dataclass(frozen=True, slots=True)
class SessionsQuery:
    """Sessions, newest activity first. ``from_us``, ``to_us`` bound the last activity; ``q`` are words to be found."""

    user_id: str | None = None
    agent_id: str | None = None
    tag: str | None = None
    conversation_id: bytes | None = None
    q: str | None = None
    from_us: int | None = None
    to_us: int | None = None
    limit: int = DEFAULT_LIMIT
    after: SessionsCursor | None = None
    offset: int = 0
    total: bool = False


@dataclass(frozen=True, slots=True)
class SessionPage:
    """JSON rows of sessions; ``last`` is None where nothing follows, ``total`` where it was not asked for."""

    sessions: tuple[bytes, ...]
    last: SessionsCursor | None
    total: int | None


@dataclass(frozen=True, slots=True)
class Stats:
    """What a tenant has; ``bytes`` are those of the events' kept bodies."""

    sessions: int
    turns: int
    events: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does it: the name of the key, never the key, and the store's clock."""

    key_name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Erased:
    """The receipt of an erasure (CONTRACT 10a). ``kind`` is session, turn or user; counts are of what it emptied now.

    ``position`` is the erasure's own. ``files`` says what became of the old bytes in the database's files:
    ``rewritten`` (they are gone) or ``pending`` (an operator still runs ``memory-graph store scrub``).
    """

    kind: str
    position: int
    sessions: int
    turns: int
    events: int
    at: str
    key_name: str
    files: str


class Store(Protocol):
    """A store. For what it or the caller does wrong every method raises a StoreAnswerError and nothing else.

    ``timeout_s`` bounds what a call waits for other writers, all waits together, where it is less than the engine's
    own bound. The work itself it does not bound. A tenant never meets another's rows.
    """

    @property
    def kind(self) -> str:
        """What the engine is, as health answers name it."""

    def append(
        self, submission: Submission, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> Appended:
        """Keep the event, its turns and its session row together, or none of them. Returns after it is durable."""

    def event(self, execution_ref: str, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None) -> bytes:
        """The JSON envelope with its ``position``. Raises NotFound."""

    def events(self, query: EventsQuery, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None) -> EventPage:
        """One page of events: of a list, or of the feed. Shorter than asked where they are large."""

    def sessions(
        self, query: SessionsQuery, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> SessionPage:
        """One page of sessions."""

    def session(self, session_id: bytes, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None) -> bytes:
        """The JSON row of one session. Raises NotFound for a session without turns."""

    def turns(
        self, query: TurnsQuery, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> tuple[bytes, ...]:
        """JSON records of turns; fewer than asked where they are large, and then a caller goes on by ``after_seq``.

        Raises NotFound for a session without turns.
        """

    def stats(self, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None) -> Stats:
        """Counts of the tenant's rows."""

    def erase_session(
        self, session_id: bytes, actor: Actor, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> Erased:
        """Erase a session's content; a second time, what came since. Raises NotFound for one that was never named."""

    def erase_turn(
        self, turn_id: bytes, actor: Actor, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> Erased:
        """Erase a turn in every session. Raises NotFound for one that no session has."""

    def erase_user(
        self, user_id: str, actor: Actor, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> Erased:
        """Erase what came in events with this ``context.user_id``. Raises NotFound where there was none."""

    def export_user(
        self, user_id: str, actor: Actor, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> Iterator[bytes]:
        """The pieces of one JSON document with everything of a person. Raises NotFound before the first piece."""

    def audit(
        self,
        *,
        after: int = 0,
        limit: int = DEFAULT_LIMIT,
        tenant: str = DEFAULT_TENANT,
        timeout_s: float | None = None,
    ) -> tuple[tuple[bytes, ...], int | None]:
        """JSON rows of who erased, exported or administered what, oldest first, and the number to go on from."""

    def record(
        self, action: str, subject: str, actor: Actor, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> None:
        """Write an audit row for an act of administration."""

    def ping(self, *, timeout_s: float | None = None) -> None:
        """Return if a write would be taken now; raises Unavailable or DamagedDatabase otherwise."""

    def close(self) -> None:
        """Let go of files and connections. A later call opens them again."""
