"""The HTTP surface of the function that a queue pushes to: deliveries in, typed answers out.

Takes the place of the host's whole application: a host that runs a function for CloudEvents answers only POST, reads a
body of any size into memory, and repeats what was sent where it cannot read it. A queue is told by the status alone
what to do: 2xx for what is stored, 5xx to come again, 4xx for what would be refused again. Caller keys are none of it:
no queue can send one. A limit of requests holds for the queue as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from flask import Response

from agent.capture.answering import (
    Environ,
    RequestTelemetry,
    Telemetry,
    captured_answer,
    failure_answer,
    health_answer,
    json_answer,
    read_on_after,
    report,
    requested_format,
    typed,
)
from agent.capture.events.delivery import Delivery
from agent.capture.events.opening import delivery_of
from agent.capture.request import Capture, CaptureRequest
from agent.core.timestamps import instant, utc_text
from agent.edge.host import host_refusal
from agent.edge.room import Place, Room
from agent.errors import BodyBrokeOff, MethodNotAllowed, RateLimitExceeded
from agent.held_frames import let_go

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

    from agent.callers.callers import Callers

HEALTH_PATHS: Final = ("/health", "/conversation-memory/health")
OPENAPI_PATH: Final = "/openapi.json"
_READS: Final = ("GET", "HEAD")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# To a queue 429 is a refusal like any other 4xx; 503 says to come again, with Retry-After (RFC 9110 10.2.3) when.
_COME_AGAIN: Final = 503
_GOES_BETTER_LATER: Final = (RateLimitExceeded, BodyBrokeOff)


class EventApp:
    """Answers one request at a time; holds no state of its own between them.

    ``new_id`` makes the execution_ref, once per delivery. ``health`` gives the store's part of the health answer,
    ``content`` is what it says of how much is stored.
    In ``room`` large deliveries wait. ``callers`` say how many deliveries are taken; without them, as many as come.
    """

    def __init__(
        self,
        service: Capture,
        *,
        telemetry: Telemetry,
        health: Callable[[], Mapping[str, Any]],
        openapi: Callable[[], bytes],
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        release: str,
        room: Room,
        callers: Callers | None = None,
        content: str = "full",
    ) -> None:
        self._service = service
        self._telemetry = telemetry
        self._health = health
        self._openapi = openapi
        self._clock = clock
        self._new_id = new_id
        self._release = release
        self._room = room
        self._callers = callers
        self._content = content

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer as a WSGI application."""
        return self.handle(environ)(environ, start_response)

    def handle(self, environ: Environ) -> Response:
        """Answer the request in ``environ``; never raises."""
        # Around everything: what a capture or its error holds is gone before the next large delivery comes.
        with self._room.place(is_envelope=True) as place:
            return self._answered(environ, place)

    def _answered(self, environ: Environ, place: Place) -> Response:
        execution_ref = self._new_id()
        # Before its telemetry begins: an envelope may name the trace that it belongs to.
        received = self._received(environ, place)
        trace = received.traceparent if isinstance(received, Delivery) else None
        known = environ if trace is None else {**environ, "HTTP_TRACEPARENT": trace}
        telemetry = self._telemetry.begin(known, execution_ref)
        try:
            answer = self._answer(received, environ, execution_ref, telemetry)
        except Exception as error:  # noqa: BLE001 - the last line of defence: CONTRACT 7, INTERNAL_ERROR
            answer = self._failed(error, execution_ref, telemetry)
        finally:
            # Last: it sends what was said before it.
            telemetry.end()
        return read_on_after(answer, environ)

    def refused_by_host(self, status: int) -> Response:
        """The typed answer in place of a page of the host's own server."""
        execution_ref = self._new_id()
        telemetry = self._telemetry.begin({}, execution_ref)
        answer = self._failed(host_refusal(status), execution_ref, telemetry)
        telemetry.end()
        return answer

    def _received(self, environ: Environ, place: Place) -> Delivery | Response | Exception:
        """The delivery, or the answer to what asks for something else, or why there is neither."""
        try:
            answer = self._read(environ)
            if answer is not None:
                return answer
            if self._callers is not None:
                # Before the body: a delivery that is to come again has nothing of it read.
                self._callers.admit(environ)
            delivery = delivery_of(environ, place)
            place.settle(len(delivery.body))
            return delivery
        except Exception as error:  # noqa: BLE001 - told apart where all failures are
            return error

    def _read(self, environ: Environ) -> Response | None:
        """The answer to who reads what the function says of itself; on every other path deliveries are taken."""
        path, method = environ.get("PATH_INFO", "/"), environ["REQUEST_METHOD"]
        allowed = _READS if path in (*HEALTH_PATHS, OPENAPI_PATH) else ("POST",)
        if method not in allowed:
            raise MethodNotAllowed(f"this path answers {', '.join(allowed)}", headers={"Allow": ", ".join(allowed)})
        if path in HEALTH_PATHS:
            return health_answer(self._health(), release=self._release, content=self._content)
        return json_answer(200, self._openapi()) if path == OPENAPI_PATH else None

    def _answer(
        self,
        received: Delivery | Response | Exception,
        environ: Environ,
        execution_ref: str,
        telemetry: RequestTelemetry,
    ) -> Response:
        if isinstance(received, Response):
            return received
        if isinstance(received, Exception):
            raise received
        published = _moment(received.published)
        telemetry.delivered(
            age_s=None if published is None else max(0.0, (self._clock() - published).total_seconds()),
            attempt=received.attempt,
            message_id=received.message_id,
            published=None if published is None else utc_text(published),
        )
        if received.refusal is not None:
            raise received.refusal
        named = requested_format(environ.get("QUERY_STRING", "")) if received.format is None else received.format
        request = CaptureRequest(body=received.body, format=named, idempotency_key=None, execution_ref=execution_ref)
        answer = self._service.capture(request, telemetry.spans)
        report(telemetry, answer, received_bytes=len(received.body))
        return captured_answer(answer)

    def _failed(self, error: Exception, execution_ref: str, telemetry: RequestTelemetry) -> Response:
        failure = typed(error)
        status = _COME_AGAIN if isinstance(failure, _GOES_BETTER_LATER) else failure.status
        telemetry.failed(failure, status=status)
        let_go(failure)
        headers = {**failure.headers, "X-Execution-Ref": execution_ref}
        return failure_answer(failure, execution_ref, at=self._clock(), headers=headers, status=status)


def _moment(published: str | None) -> datetime | None:
    """The instant that ``published`` names, None where it names none."""
    if published is None:
        return None
    try:
        return _EPOCH + timedelta(microseconds=instant(published) // 1000)
    except ValueError:
        return None
