"""Answers of the write side over HTTP, whatever brought the capture: success, failure, and what is told of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qs

import orjson
from flask import Response

from agent.capture.request import NATIVE, CaptureAnswer, Spans
from agent.core.agent_identity import AGENT_ID, AGENT_VERSION
from agent.edge.answers import failure_document, health_document
from agent.edge.request_body import answer_and_read_on
from agent.errors import AgentError, InternalError

if TYPE_CHECKING:
    from agent.core.receipt import TurnCounts

Environ = Mapping[str, Any]


class Telemetry(Protocol):
    """Logs and spans of one request; the implementations never raise into it."""

    def begin(self, environ: Environ, execution_ref: str) -> RequestTelemetry:
        """Start a request: its trace context comes from the headers."""


class RequestTelemetry(Protocol):
    """What one request reports about itself."""

    @property
    def spans(self) -> Spans:
        """Where the steps of its capture are timed."""

    def called_by(self, key_name: str) -> None:
        """The caller is known by the key of this name."""

    def delivered(
        self,
        *,
        age_s: float | None,
        attempt: int | None,
        message_id: str | None = None,
        published: str | None = None,
    ) -> None:
        """A queue brought the capture, ``age_s`` seconds after it was published, in this ``attempt`` from 1.

        ``message_id`` is what the queue calls it, ``published`` the instant in UTC. None is what it does not say.
        """

    def captured(
        self,
        *,
        execution_ref: str,
        duplicate: bool,
        turns: int,
        received_bytes: int,
        latency_ms: int,
        counts: TurnCounts | None = None,
        attempts: int = 1,
    ) -> None:
        """One capture was acknowledged; ``counts`` are what the store says of its turns, if it does."""

    def failed(self, error: AgentError, *, status: int | None = None) -> None:
        """The request was refused or failed, and answered with ``status`` where that is not the error's own.

        The error's cause is described by type and frames.
        """

    def end(self) -> None:
        """Export what is to be exported, under its own small bound. Comes last: what is said later is not sent."""


def report(telemetry: RequestTelemetry, answer: CaptureAnswer, *, received_bytes: int) -> None:
    """Tell of a capture that was acknowledged; ``received_bytes`` is the size of its body."""
    telemetry.captured(
        execution_ref=answer.execution_ref,
        duplicate=answer.duplicate,
        turns=answer.turn_count,
        received_bytes=received_bytes,
        latency_ms=answer.ruvector_latency_ms,
        counts=answer.counts,
        attempts=answer.attempts,
    )


def captured_answer(answer: CaptureAnswer) -> Response:
    """The 200 of a capture (CONTRACT 7)."""
    headers = {"X-Execution-Ref": answer.execution_ref}
    if answer.duplicate:
        headers["Idempotency-Replayed"] = "true"
    return json_answer(200, answer.body, headers)


def failure_answer(
    error: AgentError, execution_ref: str, *, at: datetime, headers: Mapping[str, str], status: int | None = None
) -> Response:
    """The typed answer to what was refused or failed at this instant, under the error's status if under no other."""
    # Late: only what was refused or failed says when.
    from agent.core.timestamps import utc_text

    body = failure_document(error, execution_ref=execution_ref, timestamp=utc_text(at))
    return json_answer(error.status if status is None else status, orjson.dumps(body), headers)


def health_answer(store: Mapping[str, Any], *, release: str, content: str) -> Response:
    """The health answer (CONTRACT 7): 200, or 503 where the store is not up; ``content`` is the mode that holds."""
    body = health_document(store, release=release, content=content)
    return json_answer(200 if body["status"] == "ok" else 503, orjson.dumps(body))


def typed(error: Exception) -> AgentError:
    """``error`` as one of our tree: what nobody foresaw is an InternalError that has it as its cause (CONTRACT 7)."""
    if isinstance(error, AgentError):
        return error
    failure = InternalError("the capture failed for a reason of ours; the log has its type and frames")
    failure.__cause__ = error
    return failure


def json_answer(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> Response:
    """An answer with this body of JSON and the headers that every answer has (CONTRACT 7)."""
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


def requested_format(query: str) -> str:
    """The value of ``format`` in a query string; NATIVE where it is absent."""
    if not query:
        return NATIVE
    # CONTRACT 7: other query names are ignored. Of several formats the first counts.
    return parse_qs(query, keep_blank_values=True).get("format", [NATIVE])[0]


def read_on_after(answer: Response, environ: Environ) -> Response:
    """``answer``, after which what is left of the request's body is read and dropped."""
    answer.response = answer_and_read_on(answer.get_data(), environ)
    return answer
