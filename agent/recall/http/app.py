"""The HTTP surface of the read side (MEMORY_READ) as a WSGI application: routes, keys, typed answers, entity tags.

It writes nothing. Every failure is typed JSON, as the capture's; what nobody foresaw is logged by type and frames and
answered without them. Conversations are for who asked: no shared cache may keep an answer, and no other may use one
without asking whether it still holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import orjson
from flask import Response

from agent.core.agent_identity import AGENT_ID, AGENT_VERSION
from agent.core.timestamps import utc_text
from agent.core.waiting import Hints
from agent.edge.answers import failure_document
from agent.edge.host import host_refusal
from agent.edge.request_body import answer_and_read_on
from agent.errors import AgentError, InternalError
from agent.recall.http.answer import JSON, Answer
from agent.recall.http.context import context_with, posted_context_with
from agent.recall.http.conversation import conversation
from agent.recall.http.etag import etag, is_known
from agent.recall.http.export import export
from agent.recall.http.graph import graph
from agent.recall.http.hydrate import hydrate_with
from agent.recall.http.request import Operation, Request, session_named
from agent.recall.http.routing import OPEN, find
from agent.recall.http.service import health_with, openapi_with, store_stats
from agent.recall.http.session_facts import counted_with, insights, state, summarised
from agent.recall.http.session_list import session_list
from agent.recall.http.telemetry import RecallTelemetry, RequestTelemetry
from agent.recall.source import Source
from agent.recall.windows import SessionWindows
from agent.window_settings import ContextSettings

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

    from agent.callers.callers import Callers

_READ: Final = ("GET", "HEAD")
_OF_EVERY_ANSWER: Final = {
    "X-Agent-Id": AGENT_ID,
    "X-Agent-Version": AGENT_VERSION,
    "Cache-Control": "private, no-cache",
    "X-Content-Type-Options": "nosniff",
}


class RecallApp:
    """Answers one request at a time; of a session it remembers what it read.

    ``source`` is where it reads, asked for when the first request needs it. ``health`` gives the store's part of the
    health answer. ``callers`` say who may ask for anything but health and the description, and how often; without them
    everybody may. By the ``settings`` windows are cut, and ``windows`` remembers what was worked out for them. By the
    ``hints`` the answers of users are read; without any, none is.
    """

    def __init__(
        self,
        source: Callable[[], Source],
        *,
        telemetry: RecallTelemetry,
        health: Callable[[], Mapping[str, Any]],
        openapi: Callable[[], bytes],
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        release: str,
        callers: Callers | None,
        settings: ContextSettings,
        windows: SessionWindows,
        hints: Hints | None = None,
    ) -> None:
        self._source = source
        self._telemetry = telemetry
        self._clock = clock
        self._new_id = new_id
        self._callers = callers
        self._operations: Mapping[str, Operation] = {
            "conversations": session_list,
            "store_stats": store_stats,
            "health": health_with(health, release=release),
            "openapi": openapi_with(openapi),
            "conversation": conversation,
            "state": state,
            "summary": summarised,
            "insights": insights,
            "stats": counted_with(settings, windows, clock),
            "graph": graph,
            "export": export,
            "context": context_with(settings, windows),
            "posted_context": posted_context_with(settings, windows),
            "hydrate": hydrate_with(settings, hints or Hints()),
        }

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer the request in ``environ``; never raises."""
        answer = self._conditional(self.answer(environ), environ)
        headers = {"Content-Type": JSON, "Content-Length": str(len(answer.body)), **_OF_EVERY_ANSWER, **answer.headers}
        if answer.status == HTTPStatus.NOT_MODIFIED:
            # RFC 9110 15.4.5: what a stored answer would be updated with, and nothing of a body that is not sent.
            del headers["Content-Type"], headers["Content-Length"]
        start_response(f"{answer.status} {HTTPStatus(answer.status).phrase}", list(headers.items()))
        return answer_and_read_on(b"" if environ["REQUEST_METHOD"] == "HEAD" else answer.body, environ)

    def answer(self, environ: Mapping[str, Any]) -> Answer:
        """The answer in full, whether or not the client has it already."""
        request_ref = self._new_id()
        telemetry = self._telemetry.begin(environ, request_ref)
        failure: AgentError
        try:
            answer = self._operate(environ, telemetry)
            telemetry.answered(answer.status)
            return answer
        except AgentError as error:
            failure = error
            telemetry.failed(failure)
        except Exception as error:  # noqa: BLE001 - the last line of defence: CONTRACT 7, INTERNAL_ERROR
            failure = InternalError("the request failed for a reason of ours; the log has its type and frames")
            failure.__cause__ = error
            telemetry.failed(failure)
        finally:
            # Last: it sends what was said before it.
            telemetry.end()
        return self._failure(failure, request_ref)

    def refused_by_host(self, status: int) -> Response:
        """The typed answer in place of a page of the host's server."""
        error = host_refusal(status)
        request_ref = self._new_id()
        telemetry = self._telemetry.begin({}, request_ref)
        telemetry.failed(error)
        telemetry.end()
        answer = self._failure(error, request_ref)
        headers = {"Content-Type": JSON, **_OF_EVERY_ANSWER, **answer.headers}
        return Response(answer.body, status=int(answer.status), headers=headers)

    def _operate(self, environ: Mapping[str, Any], telemetry: RequestTelemetry) -> Answer:
        found = find(environ)
        telemetry.operating(found.operation, is_open=found.operation in OPEN)
        if self._callers is not None and found.operation not in OPEN:
            self._callers.admit(environ, telemetry.called_by)
        session_id = session_named(found.session) if found.session else ""
        request = Request(environ, found.operation, session_id, self._source, telemetry)
        return self._operations[found.operation](request)

    def _failure(self, error: AgentError, request_ref: str) -> Answer:
        body = failure_document(error, execution_ref=request_ref, timestamp=utc_text(self._clock()))
        return Answer(orjson.dumps(body), error.status, {**error.headers, "X-Execution-Ref": request_ref})

    def _conditional(self, answer: Answer, environ: Mapping[str, Any]) -> Answer:
        """``answer`` with its tag, and without its body where the client has it."""
        if answer.version is None or environ["REQUEST_METHOD"] not in _READ:
            return answer
        tag = etag(answer.version, answer.body)
        if is_known(tag, environ.get("HTTP_IF_NONE_MATCH")):
            return Answer(b"", HTTPStatus.NOT_MODIFIED, {"ETag": tag})
        return answer._replace(headers={**answer.headers, "ETag": tag})
