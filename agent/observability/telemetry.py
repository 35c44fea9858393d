"""Logs, spans and metrics of one request of a capture function, as its surface uses them. Nothing here raises into it.

Counted are captures: a POST to a path that exists. Health, the description, other paths and what is no HTTP are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from typing import Any, Final, Literal, Self

from agent.core.receipt import TurnCounts
from agent.errors import AgentError
from agent.observability import metric_table
from agent.observability.destinations import Destinations
from agent.observability.reporting import Reporting, Request, RequestReport, is_refusal, project_of
from agent.observability.trace_context import TraceContext
from agent.observability.tracing import Spans

Trigger = Literal["http", "event"]
# An integer of 64 bits. "This field must not be populated by the publisher":
# https://cloud.google.com/pubsub/docs/reference/rest/v1/PubsubMessage
_PUBSUB_ID: Final = re.compile(r"[0-9]{1,20}\Z", re.ASCII)
_NO_CAPTURE: Final = (404, 405)
_APPEND: Final = "append"


class _TimedAppend:
    """``spans``, and when the append began: of one that fails nobody else says how long it took."""

    def __init__(self, spans: Spans, elapsed: Callable[[], float]) -> None:
        self._spans = spans
        self._elapsed = elapsed
        self.append_began: float | None = None
        self.set = spans.set
        self.conversation = spans.conversation
        self.answered = spans.answered
        self.end = spans.end

    @property
    def trace(self) -> TraceContext | None:
        return self._spans.trace

    @property
    def traceparent(self) -> str | None:
        return self._spans.traceparent

    def span(self, name: str) -> AbstractContextManager[None]:
        if name == _APPEND:
            self.append_began = self._elapsed()
        return self._spans.span(name)


class RequestTelemetry(RequestReport):
    """What one capture reports about itself."""

    def __init__(self, request: Request, *, trigger: Trigger, is_post: bool) -> None:
        timed = _TimedAppend(request.spans, request.elapsed)
        super().__init__(request._replace(spans=timed))
        self._timed = timed
        self._trigger: Trigger = trigger
        self._is_post = is_post

    def delivered(
        self,
        *,
        age_s: float | None,
        attempt: int | None,
        message_id: str | None = None,
        published: str | None = None,
    ) -> None:
        """Count that a queue brought it, ``age_s`` seconds after it was published, in this ``attempt`` from 1.

        The lines of the request name the message, where the id is what Pub/Sub makes (digits): any other may be a
        caller's text. They tell the instant of its publication, too: a dead letter has a new id, and keeps that one.
        """
        if message_id is not None and _PUBSUB_ID.match(message_id):
            self._about["message_id"] = message_id
        if published is not None:
            self._about["published"] = published
        if age_s is not None:
            self._measures.record(metric_table.EVENT_AGE, age_s)
        if attempt is not None and attempt > 1:
            self._measures.add(metric_table.EVENT_REDELIVERIES, 1)

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
        """Log and count a capture that the store acknowledged. ``execution_ref`` is that of the stored event."""
        self.spans.answered(200, None)
        if self._measures.are_sent:
            self._count("duplicate" if duplicate else "captured")
            self._measures.record(metric_table.CAPTURE_SIZE, received_bytes, {"trigger": self._trigger})
            self._count_append("ok", latency_ms / 1000, attempts)
            for state, number in counts.as_dict().items() if counts is not None else ():
                self._measures.add(metric_table.TURNS, number, {"state": state})
        self._log(
            "capture acknowledged",
            {
                "invocation_ref": self._request.ref,
                "duplicate": duplicate,
                "turns": turns,
                "received_bytes": received_bytes,
                "ruvector_latency_ms": latency_ms,
            },
            execution_ref=execution_ref,
        )

    def _is_counted(self, error: AgentError | None) -> bool:
        return self._is_post and (error is None or error.status not in _NO_CAPTURE)

    def _count_failure(self, error: AgentError) -> None:
        with suppress(Exception):  # no failure of telemetry reaches a request
            refused = is_refusal(error)
            self._count("refused" if refused else "failed", error.error_code)
            began = self._timed.append_began
            if began is not None:
                attempts = error.details.get("attempts", 1)
                took = self._request.elapsed() - began
                # A refusal after the append is one of its answers: the key belongs to another payload.
                self._count_append("ok" if refused else "failed", took, attempts if isinstance(attempts, int) else 1)

    def _count(self, outcome: str, error_code: str | None = None) -> None:
        labels = {"outcome": outcome, "trigger": self._trigger}
        self._measures.record(metric_table.CAPTURE_DURATION, self._request.elapsed(), labels)
        if error_code is not None:
            labels = {**labels, "error.type": error_code}
        self._measures.add(metric_table.CAPTURES, 1, labels)

    def _count_append(self, outcome: str, took_s: float, attempts: int) -> None:
        self._measures.record(metric_table.STORE_DURATION, took_s, {"outcome": outcome})
        self._measures.add(metric_table.STORE_RETRIES, attempts - 1)


class Telemetry(Reporting):
    """Starts the telemetry of each request; ``trigger`` is what brings the captures."""

    def __init__(self, destinations: Destinations, *, trigger: Trigger = "http", **more: Any) -> None:
        super().__init__(destinations, name="capture", **more)
        self._trigger: Trigger = trigger

    @classmethod
    def from_env(cls, environ: Mapping[str, str], *, trigger: Trigger = "http") -> Self:
        """Telemetry as ``environ`` asks for it. Raises ConfigurationError for an endpoint or a budget that is none."""
        return cls(Destinations.from_env(environ), trigger=trigger, project=project_of(environ))

    def begin(self, environ: Mapping[str, Any], execution_ref: str) -> RequestTelemetry:
        """Start the request in a WSGI environment."""
        is_post = environ.get("REQUEST_METHOD") == "POST"
        begun = self._begun(environ, execution_ref, has_spans=is_post)
        return RequestTelemetry(begun, trigger=self._trigger, is_post=is_post)
