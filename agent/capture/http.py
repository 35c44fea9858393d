"""The HTTP surface of the capture function (CONTRACT 7): routes, methods, headers, typed answers.

Works on the WSGI environment that the function host hands over. Content-Type is not consulted. Every failure is
typed JSON; what nobody foresaw is logged by type and frames and answered without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
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
from agent.capture.idempotency_key import checked_idempotency_key
from agent.capture.request import Capture, CaptureRequest
from agent.edge.host import host_refusal
from agent.edge.request_body import request_body
from agent.edge.room import Place, Room
from agent.errors import AgentError, MethodNotAllowed, NotFound
from agent.held_frames import let_go

if TYPE_CHECKING:
    from agent.callers.callers import Callers

CAPTURE_PATHS: Final = ("/", "/conversation-memory", "/v1/memory-graph/conversation")
HEALTH_PATHS: Final = ("/health", "/conversation-memory/health")
OPENAPI_PATH: Final = "/openapi.json"
_METHODS: Final = {
    **dict.fromkeys(CAPTURE_PATHS, ("POST",)),
    **dict.fromkeys(HEALTH_PATHS, ("GET", "HEAD")),
    OPENAPI_PATH: ("GET", "HEAD"),
}


class CaptureApp:
    """Answers one request at a time; holds no state of its own between them.

    ``new_id`` makes the execution_ref, once per invocation. ``health`` gives the store's part of the health answer,
    ``content`` is what it says of how much is stored.
    Without ``callers`` everybody may capture, as often as they like; health and the description are for all. In
    ``room`` large bodies wait.
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

    def handle(self, environ: Environ) -> Response:
        """Answer the request in ``environ``; never raises."""
        # Around everything: what a capture or its error holds is gone before the next large body comes.
        with self._room.place() as place:
            return self._answered(environ, place)

    def _answered(self, environ: Environ, place: Place) -> Response:
        execution_ref = self._new_id()
        telemetry = self._telemetry.begin(environ, execution_ref)
        try:
            return self._route(environ, execution_ref, telemetry, place)
        except Exception as error:  # noqa: BLE001 - the last line of defence: CONTRACT 7, INTERNAL_ERROR
            failure = typed(error)
            telemetry.failed(failure)
        finally:
            # Last: it sends what was said before it.
            telemetry.end()
        let_go(failure)
        answer = self._failure(failure, execution_ref, is_capture=environ.get("PATH_INFO") in CAPTURE_PATHS)
        return read_on_after(answer, environ)

    def refused_by_host(self, status: int) -> Response:
        """The typed answer in place of a page of the host's own; a redirect of its router is an unknown path."""
        error = host_refusal(status)
        execution_ref = self._new_id()
        telemetry = self._telemetry.begin({}, execution_ref)
        telemetry.failed(error)
        telemetry.end()
        return self._failure(error, execution_ref, is_capture=False)

    def _route(self, environ: Environ, execution_ref: str, telemetry: RequestTelemetry, place: Place) -> Response:
        path, method = environ.get("PATH_INFO", "/"), environ["REQUEST_METHOD"]
        allowed = _METHODS.get(path)
        if allowed is None:
            raise NotFound(f"there is nothing at this path; there is {', '.join(_METHODS)}")
        if method not in allowed:
            raise MethodNotAllowed(f"this path answers {', '.join(allowed)}", headers={"Allow": ", ".join(allowed)})
        if path in HEALTH_PATHS:
            return read_on_after(health_answer(self._health(), release=self._release, content=self._content), environ)
        if path == OPENAPI_PATH:
            return read_on_after(json_answer(200, self._openapi()), environ)
        if self._callers is not None:
            # Before the body: who may not capture, or not now, has nothing of it read.
            self._callers.admit(environ, telemetry.called_by)
        return self._capture(environ, execution_ref, telemetry, place)

    def _capture(self, environ: Environ, execution_ref: str, telemetry: RequestTelemetry, place: Place) -> Response:
        request = CaptureRequest(
            format=requested_format(environ.get("QUERY_STRING", "")),
            idempotency_key=checked_idempotency_key(environ.get("HTTP_IDEMPOTENCY_KEY")),
            execution_ref=execution_ref,
            body=request_body(environ, place=place),
        )
        place.settle(len(request.body))
        answer = self._service.capture(request, telemetry.spans)
        report(telemetry, answer, received_bytes=len(request.body))
        return captured_answer(answer)

    def _failure(self, error: AgentError, execution_ref: str, *, is_capture: bool) -> Response:
        headers = {**error.headers, "X-Execution-Ref": execution_ref} if is_capture else error.headers
        return failure_answer(error, execution_ref, at=self._clock(), headers=headers)
