"""The store client: appends decision events and reads them back, over sockets or in process (CONTRACT 7 and 10).

The status decides, by the retry table of CONTRACT 7, and never the text of a message. Errors hold counts and the
upstream status: no key, no body, no URL, no text of the store's. A redirect is no acknowledgement and is not followed.
"""

from __future__ import annotations

import random as random_source
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import urlencode

from agent.core.agent_identity import AGENT_ID
from agent.core.receipt import Receipt
from agent.errors import (
    ConfigurationError,
    InternalError,
    Problem,
    StoreNotFound,
    StoreWriteError,
    ValidationError,
)
from agent.ruvector.acknowledgement import read_receipt
from agent.ruvector.address import Address, address_of
from agent.ruvector.exchange import (
    Answer,
    AnswerLost,
    BodyRefused,
    Exchange,
    Fields,
    NotConnected,
    Request,
    Unformed,
)
from agent.ruvector.given_up import given_up
from agent.ruvector.refused import refused
from agent.ruvector.request_head import HeadStart
from agent.ruvector.retry import Attempt, AttemptError, RetryPolicy, parse_retry_after
from agent.ruvector.store_key import KeyState, key_state, role_needed

if TYPE_CHECKING:
    import httpx

    from agent.ruvector.erasure import StoreErasure
    from agent.ruvector.health import StoreHealth
    from agent.ruvector.models import EventEnvelope, EventPage, TurnPage
    from agent.ruvector.reads import StoreReads

T = TypeVar("T")

DEFAULT_DEADLINE_S: Final = 20.0
MAX_ACKNOWLEDGEMENT_BYTES: Final = 1024 * 1024
MAX_READ_BYTES: Final = 64 * 1024 * 1024
_MAX_URL: Final = 65_536  # characters, which is what httpx takes too
_GATEWAY_STATUSES: Final = (502, 504)  # a gateway answered these for the store, which may have acted all the same

Query = Mapping[str, str | int | None]


class AnswerTooLong(Exception):
    """A store's answer to a question is longer than was asked for. ``refused`` is what it comes to for most."""

    def __init__(self, refused: StoreWriteError) -> None:
        super().__init__("the answer's body is too long")
        self.refused = refused


def _utc_now() -> datetime:
    return datetime.now(UTC)


class RuvectorClient:
    """Thread-safe if its transport is. ``kind`` (embedded or http) is for health answers only.

    ``base_url`` may have a path and a trailing slash; ``api_key`` None sends no Authorization. ``deadline_s`` bounds
    all attempts and sleeps of one call. ``at_most_once`` repeats a write only where the store cannot have acted on it.
    ``clock`` is that of the transport (monotonic seconds), ``wall_clock`` an aware UTC datetime for HTTP-dates.
    """

    def __init__(
        self,
        transport: Exchange | httpx.BaseTransport,
        *,
        base_url: str,
        api_key: str | None,
        kind: str,
        deadline_s: float = DEFAULT_DEADLINE_S,
        at_most_once: bool = False,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], datetime] = _utc_now,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = random_source.random,
    ) -> None:
        self.kind = kind
        self._wire = _over(transport)
        self._address = _address(base_url)
        self._fields = [
            (b"Host", self._address.authority.encode("ascii")),
            (b"User-Agent", AGENT_ID.encode()),
            (b"Accept", b"application/json"),
            # Nothing said would allow any coding (RFC 9110 12.5.3), and none is undone here.
            (b"Accept-Encoding", b"identity"),
            (b"X-Agent-Id", AGENT_ID.encode()),
        ]
        self._has_key = api_key is not None
        if api_key is not None:
            self._fields.append((b"Authorization", b"Bearer " + _header_value(api_key, "the store's key")))
        self._append_target = self._address.path + "/v1/decision-events"
        append_fields = [*self._fields, (b"Content-Type", b"application/json")]
        self._append_head = HeadStart.of("POST", self._append_target, append_fields)
        self._at_most_once = at_most_once
        self._clock = clock
        self._wall_clock = wall_clock
        self._policy = RetryPolicy(deadline_s, clock, sleep, random)

    def append(self, envelope: bytes, *, idempotency_key: str | None, traceparent: str | None = None) -> Receipt:
        """Append one event (CONTRACT 10) and return the store's receipt; every attempt carries the same bytes and key.

        The key is that of the event or of the caller; None sends none, for an event of another writer that has none.
        ``traceparent`` is sent on as it is (W3C Trace Context 3.2); None sends none.
        Raises StoreConnectionError (not reached, or no answer, after retries), RateLimitExceeded, and StoreWriteError
        for any answer that is neither an acknowledgement nor retried, a 409 included.
        """
        started = self._clock()
        own = [(b"Content-Length", b"%d" % len(envelope))]
        if idempotency_key is not None:
            own.append((b"Idempotency-Key", _header_value(idempotency_key, "the Idempotency-Key")))
        if traceparent is not None:
            own.append((b"traceparent", _header_value(traceparent, "the traceparent")))
        request = self._request("POST", self._append_target, self._append_head, own, body=envelope)

        def attempt_append(attempt: Attempt) -> Receipt:
            answer = self._exchange(request, attempt)
            try:
                taken_ms = self._milliseconds(started)
                return read_receipt(answer.status, answer.body, latency_ms=taken_ms, attempts=attempt.number)
            except ValueError:
                raise refused(answer, "write", attempts=attempt.number) from None

        return self._run(attempt_append, repeat_acted=not self._at_most_once)

    def health(self, *, timeout_s: float) -> StoreHealth:
        """Ask the store once, within ``timeout_s`` seconds. A store that is down is an answer, not an error."""
        # Late: a capture asks for no health.
        from agent.ruvector.health import StoreHealth

        started = self._clock()
        answer = self._asked_once("/health", timeout_s)
        if answer is None:
            return StoreHealth("unreachable", self._milliseconds(started), self.kind)
        return StoreHealth("ok" if 200 <= answer.status < 300 else "error", self._milliseconds(started), self.kind)

    def key_state(self, *, timeout_s: float) -> KeyState:
        """What the store says of the key, asked once for what needs one, within ``timeout_s`` seconds."""
        answer = self._asked_once("/v1/stats", timeout_s)
        return "unknown" if answer is None else key_state(answer.status, answer.body, is_sent=self._has_key)

    @property
    def reads(self) -> StoreReads:
        """What the store can be asked for (CONTRACT 10)."""
        # Late: a capture reads nothing, and pydantic is half of a cold start.
        from agent.ruvector.reads import StoreReads

        return StoreReads(self)

    @property
    def erasure(self) -> StoreErasure:
        """Erasure and access (CONTRACT 10a)."""
        from agent.ruvector.erasure import StoreErasure

        return StoreErasure(self)

    def event(self, execution_ref: str) -> EventEnvelope:
        """The event of one invocation, with its position. Raises StoreNotFound if there is none."""
        return self.reads.event(execution_ref)

    def events(self, *, session_id: str | None = None, limit: int = 100, cursor: str | None = None) -> EventPage:
        """One page of events in ascending order, of one session or all; ``cursor`` is the last page's next_cursor."""
        return self.reads.events(session_id=session_id, limit=limit, cursor=cursor)

    def turns(self, session_id: str, *, after_seq: int = 0, limit: int = 100) -> TurnPage:
        """The turns of a session with ``seq`` above ``after_seq``, latest revisions, at most ``limit`` (1..1000)."""
        return self.reads.turns(session_id, after_seq=after_seq, limit=limit)

    def ask(
        self,
        method: str,
        path: str,
        query: Query,
        read: Callable[[bytes], T],
        *,
        max_body: int = MAX_READ_BYTES,
    ) -> T:
        """What ``read`` makes of a 200's body; it raises ValueError for what it does not understand.

        Retried as a write is; a GET is always safe to repeat. A name whose value is None is not in the query. Raises
        StoreNotFound for a 404, StoreWriteError for an answer that is not what was asked for (StoreDamaged where the
        store cannot read it), AnswerTooLong.
        """
        given = {name: value for name, value in query.items() if value is not None}
        target = self._target(f"{path}?{urlencode(given)}" if given else path)
        request = self._request(method, target, HeadStart.of(method, target, self._fields), max_body=max_body)
        role = role_needed(method, path)

        def attempt_ask(attempt: Attempt) -> T:
            answer = self._exchange(request, attempt)
            if answer.status == 404:
                details = {"upstream_status": 404, "attempts": attempt.number}
                raise StoreNotFound("the store has no such record", details=details)
            if answer.status != 200:
                raise refused(answer, role, attempts=attempt.number)
            if not answer.is_whole:
                raise AnswerTooLong(refused(answer, role, attempts=attempt.number))
            try:
                return read(answer.body)
            except ValueError:
                # A parser's error quotes what it could not read.
                raise refused(answer, role, attempts=attempt.number) from None

        return self._run(attempt_ask, repeat_acted=method == "GET" or not self._at_most_once)

    def close(self) -> None:
        """Close the transport with its connections."""
        self._wire.close()

    def _run(self, call: Callable[[Attempt], T], *, repeat_acted: bool) -> T:
        try:
            return self._policy.run(call, repeat_acted=repeat_acted)
        except AttemptError as failure:
            raise given_up(failure) from failure.__cause__

    def _asked_once(self, path: str, timeout_s: float) -> Answer | None:
        """The answer to one GET, whatever its status; None where none came within ``timeout_s`` seconds."""
        end = self._clock() + timeout_s
        attempt = Attempt(1, connect_deadline=end, deadline=end)
        target = self._target(path)
        request = self._request("GET", target, HeadStart.of("GET", target, self._fields))
        try:
            return self._answer(request, attempt)
        except AttemptError:
            return None

    def _request(
        self,
        method: str,
        target: str,
        start: HeadStart,
        own: Fields = (),
        *,
        body: bytes = b"",
        max_body: int = MAX_ACKNOWLEDGEMENT_BYTES,
    ) -> Request:
        try:
            return Request(self._address, method, target, start.whole(own), body, max_body)
        except Unformed:
            raise _unformed() from None

    def _exchange(self, request: Request, attempt: Attempt) -> Answer:
        """The answer to one attempt, unless its status says to come again: then AttemptError."""
        answer = self._answer(request, attempt)
        status = answer.status
        if status in _GATEWAY_STATUSES:
            raise AttemptError(attempts=attempt.number, acted=True, status=status)
        if status in (429, 503):
            asked = parse_retry_after(answer.field(b"retry-after"), now=self._wall_clock())
            raise AttemptError(attempts=attempt.number, acted=False, status=status, retry_after_s=asked)
        return answer

    def _answer(self, request: Request, attempt: Attempt) -> Answer:
        """The answer to one attempt, read whole. Raises AttemptError where none came."""
        number, connect_deadline, deadline = attempt
        try:
            return self._wire.exchange(request, connect_deadline=connect_deadline, deadline=deadline)
        except BodyRefused as refused:
            return Answer(refused.status, refused.fields, b"", is_whole=False)
        except NotConnected as error:
            raise AttemptError(attempts=number, acted=False) from error
        except AnswerLost as error:
            raise AttemptError(attempts=number, acted=True) from error
        except Unformed:
            raise _unformed() from None

    def _milliseconds(self, started: float) -> int:
        return round((self._clock() - started) * 1000)

    def _target(self, path: str) -> str:
        target = self._address.path + path
        if len(self._address.url(target)) > _MAX_URL:
            raise ValidationError("what is asked for is too long", [Problem("$", "maxLength")])
        return target


def _over(transport: Exchange | httpx.BaseTransport) -> Exchange:
    if isinstance(transport, Exchange):
        return transport
    # Late: a capture over sockets does without httpx.
    from agent.ruvector.over_httpx import HttpxExchange

    return HttpxExchange(transport)


def _address(base_url: str) -> Address:
    try:
        return address_of(base_url)
    except ValueError:
        raise ConfigurationError("RUVECTOR_SERVICE_URL", "is not a URL") from None


def _unformed() -> InternalError:
    return InternalError("the request to the store could not be formed")


def _header_value(text: str, what: str) -> bytes:
    try:
        return text.encode("ascii")
    except UnicodeEncodeError:
        # The codec's error would carry the text itself.
        raise InternalError(f"{what} is not ASCII") from None
