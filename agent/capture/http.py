"""The HTTP surface of the capture function (CONTRACT 7): routes, methods, headers, typed answers.

Works on the WSGI environment that the function host hands over. Content-Type is not consulted. Every failure is
typed JSON; what nobody foresaw is logged by type and frames and answered without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import parse_qs

import orjson
from flask import Response

from agent.capture.idempotency_key import checked_idempotency_key
from agent.capture.service import NATIVE, CaptureRequest, CaptureService, Spans
from agent.core.decision import AGENT_ID, AGENT_VERSION
from agent.core.timestamps import utc_text
from agent.edge.answers import failure_document, health_document
from agent.edge.host import host_refusal
from agent.edge.request_body import answer_and_read_on, request_body
from agent.errors import AgentError, InternalError, MethodNotAllowed, NotFound

if TYPE_CHECKING:
    from agent.core.api_keys import ApiKeys

Environ = Mapping[str, Any]

CAPTURE_PATHS: Final = ("/", "/conversation-memory", "/v1/memory-graph/conversation")
HEALTH_PATHS: Final = ("/health", "/conversation-memory/health")
OPENAPI_PATH: Final = "/openapi.json"
_METHODS: Final = {
    **dict.fromkeys(CAPTURE_PATHS, ("POST",)),
    **dict.fromkeys(HEALTH_PATHS, ("GET", "HEAD")),
    OPENAPI_PATH: ("GET", "HEAD"),
}


class Telemetry(Protocol):
    """Logs and spans of one request; the implementations never raise into it."""

    def begin(self, environ: Environ, execution_ref: str) -> RequestTelemetry:
        """Start a request: its trace context comes from the headers."""


class RequestTelemetry(Protocol):
    """What one request reports about itself."""

    @property
    def spans(self) -> Spans:
        """Where the steps of its capture are timed."""

    def captured(
        self, *, execution_ref: str, duplicate: bool, turns: int, received_bytes: int, latency_ms: int
    ) -> None:
        """One capture was acknowledged."""

    def failed(self, error: AgentError) -> None:
        """The request was refused or failed; the error's cause is described by type and frames."""

    def end(self) -> None:
        """Export what is to be exported, under its own small bound."""


class CaptureApp:
    """Answers one request at a time; holds no state of its own between them.

    ``new_id`` makes the execution_ref, once per invocation. ``health`` gives the store's part of the health answer.
    Without ``keys`` everybody may capture; health and the description ask for none.
    """

    def __init__(
        self,
        service: CaptureService,
        *,
        telemetry: Telemetry,
        health: Callable[[], Mapping[str, Any]],
        openapi: Callable[[], bytes],
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        release: str,
        keys: ApiKeys | None = None,
    ) -> None:
        self._service = service
        self._telemetry = telemetry
        self._health = health
        self._openapi = openapi
        self._clock = clock
        self._new_id = new_id
        self._release = release
        self._keys = keys

    def handle(self, environ: Environ) -> Response:
        """Answer the request in ``environ``; never raises."""
        execution_ref = self._new_id()
        telemetry = self._telemetry.begin(environ, execution_ref)
        try:
            return self._route(environ, execution_ref, telemetry)
        except AgentError as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - the last line of defence: CONTRACT 7, INTERNAL_ERROR
            failure = InternalError("the capture failed for a reason of ours; the log has its type and frames")
            failure.__cause__ = error
        finally:
            telemetry.end()
        telemetry.failed(failure)
        answer = self._failure(failure, execution_ref, is_capture=environ.get("PATH_INFO") in CAPTURE_PATHS)
        return _read_on_after(answer, environ)

    def refused_by_host(self, status: int) -> Response:
        """The typed answer in place of a page of the host's own; a redirect of its router is an unknown path."""
        error = host_refusal(status)
        execution_ref = self._new_id()
        telemetry = self._telemetry.begin({}, execution_ref)
        telemetry.end()
        telemetry.failed(error)
        return self._failure(error, execution_ref, is_capture=False)

    def _route(self, environ: Environ, execution_ref: str, telemetry: RequestTelemetry) -> Response:
        path, method = environ.get("PATH_INFO", "/"), environ["REQUEST_METHOD"]
        allowed = _METHODS.get(path)
        if allowed is None:
            raise NotFound(f"there is nothing at this path; there is {', '.join(_METHODS)}")
        if method not in allowed:
            raise MethodNotAllowed(f"this path answers {', '.join(allowed)}", headers={"Allow": ", ".join(allowed)})
        if path in HEALTH_PATHS:
            return _read_on_after(self._healthy(), environ)
        if path == OPENAPI_PATH:
            return _read_on_after(_json(200, self._openapi()), environ)
        if self._keys is not None:
            # Before the body: who may not capture has nothing of it read.
            self._keys.check(environ)
        return self._capture(environ, execution_ref, telemetry)

    def _capture(self, environ: Environ, execution_ref: str, telemetry: RequestTelemetry) -> Response:
        request = CaptureRequest(
            format=_format(environ.get("QUERY_STRING", "")),
            idempotency_key=checked_idempotency_key(environ.get("HTTP_IDEMPOTENCY_KEY")),
            execution_ref=execution_ref,
            body=request_body(environ),
        )
        answer = self._service.capture(request, telemetry.spans)
        telemetry.captured(
            execution_ref=answer.execution_ref,
            duplicate=answer.duplicate,
            turns=answer.turn_count,
            received_bytes=len(request.body),
            latency_ms=answer.ruvector_latency_ms,
        )
        headers = {"X-Execution-Ref": answer.execution_ref}
        if answer.duplicate:
            headers["Idempotency-Replayed"] = "true"
        return _json(200, answer.body, headers)

    def _healthy(self) -> Response:
        body = health_document(self._health(), release=self._release)
        return _json(200 if body["status"] == "ok" else 503, orjson.dumps(body))

    def _failure(self, error: AgentError, execution_ref: str, *, is_capture: bool) -> Response:
        body = failure_document(error, execution_ref=execution_ref, timestamp=utc_text(self._clock()))
        headers = {**error.headers, "X-Execution-Ref": execution_ref} if is_capture else error.headers
        return _json(error.status, orjson.dumps(body), headers)


def _json(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> Response:
    # An iterator, not bytes: the host reads what is left of a request before any answer that has a length of its own,
    # and would hold a refused body of any size in memory.
    return Response(
        iter((body,)),
        status=status,
        headers={
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "X-Agent-Id": AGENT_ID,
            "X-Agent-Version": AGENT_VERSION,
            **(headers or {}),
        },
    )


def _format(query: str) -> str:
    if not query:
        return NATIVE
    # CONTRACT 7: other query names are ignored. Of several formats the first counts.
    return parse_qs(query, keep_blank_values=True).get("format", [NATIVE])[0]


def _read_on_after(answer: Response, environ: Environ) -> Response:
    """``answer``, after which what is left of the request's body is read and dropped."""
    answer.response = answer_and_read_on(answer.get_data(), environ)
    return answer
