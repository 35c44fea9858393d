"""Logs, spans and metrics of one request of the recall function, as its HTTP surface uses them. It raises nothing.

A request that concerns a session is told in three lines: ``received``, with what the session was found to remember;
``conversation_context_loaded``, with how much of it goes into the answer; ``respond``, with what the answer was made
from. A window that leaves turns out says ``context_pruned``, with how many. Where callers have keys, what concerns no
session is told in one line, ``recall answered``: each request then names its caller's key. Told are ids, counts and
names (CONTRACT 8): of a parameter its name, and that only where it reads as one; of a session its UUID, since a native
session id is a caller's text. Their counts go onto the span that is open, too.

Counted are recalls: requests of a route that asks for a key. Health, the description and unknown paths are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, Self

from agent.core.ids import session_uuid
from agent.core.memory import Memory
from agent.errors import AgentError
from agent.observability import metric_table
from agent.observability.destinations import Destinations
from agent.observability.logs import Field, Fields
from agent.observability.parameter_names import told_name, told_names
from agent.observability.reporting import KEY_NAME, Reporting, Request, RequestReport, is_refusal, project_of
from agent.observability.token_estimate import estimated_tokens

RECEIVED: Final = "received"
RESPOND: Final = "respond"
CONTEXT_LOADED: Final = "conversation_context_loaded"
CONTEXT_PRUNED: Final = "context_pruned"
ANSWERED: Final = "recall answered"


class RecallRequestTelemetry(RequestReport):
    """What one request of a reader reports about itself."""

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        self._operation: str | None = None
        self._is_told = False

    def operating(self, operation: str, *, is_open: bool) -> None:
        """Say what is asked for, by the name of its route; where it ``is_open`` to all, it counts as no recall."""
        self._operation = None if is_open else operation

    def answered(self, status: int) -> None:
        """Count a request that is answered, and put the ``status`` on its span.

        Where no line has named the key that it came with, one does.
        """
        if self._is_counted(None):
            self.spans.answered(int(status), None)
            self._count("answered")
        if KEY_NAME in self._about and not self._is_told:
            self._log(ANSWERED, {"operation": self._operation or "", "status": int(status)})

    def received(self, operation: str, session_id: str, *, memory: Memory, history_count: int) -> None:
        """Log that the session was found: what it remembers, and how many turns its history has."""
        self._stage(RECEIVED, operation, session_id, memory, history_count)

    def context_loaded(self, session_id: str, *, total_messages: int, contents: Iterable[str | None]) -> None:
        """Log how much of a session goes into the answer: ``contents`` of ``total_messages`` that the store has.

        An erased message has None.
        """
        with suppress(Exception):  # no failure of telemetry reaches a request
            loaded = list(contents)
            counts = {
                "total_messages_in_db": total_messages,
                "messages_loaded": len(loaded),
                "messages_truncated": max(0, total_messages - len(loaded)),
                "estimated_tokens": estimated_tokens(text for text in loaded if text is not None),
            }
            self.spans.set(**counts)
            self._log(CONTEXT_LOADED, {"trace_id": self._trace_id, "session_id": session_uuid(session_id), **counts})

    def context_pruned(self, session_id: str | None, *, kept: int, dropped: int, tokens: int, strategy: str) -> None:
        """Log that a window leaves turns out: how many, how many it keeps, for how many tokens, by which strategy.

        ``session_id`` is None where the turns are of no session.
        """
        with suppress(Exception):  # no failure of telemetry reaches a request
            told: dict[str, Field] = {"kept": kept, "dropped": dropped, "tokens": tokens, "strategy": strategy}
            self.spans.set(kept=kept, dropped=dropped, tokens=tokens, strategy=strategy)
            named = {} if session_id is None else {"session_id": session_uuid(session_id)}
            self._log(CONTEXT_PRUNED, {"trace_id": self._trace_id, **named, **told})

    def respond(self, operation: str, session_id: str, *, memory: Memory, history_count: int) -> None:
        """Log what the answer was made from: the state, and how many turns of the history."""
        self._stage(RESPOND, operation, session_id, memory, history_count)

    @property
    def _trace_id(self) -> str:
        """The trace of the request; without one its own reference, which has the same 32 digits."""
        trace = self.trace
        return self._request.ref.replace("-", "") if trace is None else trace.trace_id

    def _is_counted(self, error: AgentError | None) -> bool:  # noqa: ARG002 - the other functions look at it
        return self._operation is not None

    def _log(self, message: str, fields: Mapping[str, Field], *, execution_ref: str | None = None) -> None:
        self._is_told = True
        super()._log(message, fields, execution_ref=execution_ref)

    def _count_failure(self, error: AgentError) -> None:
        self._count("refused" if is_refusal(error) else "failed", error.error_code)

    def _count(self, outcome: str, error_code: str | None = None) -> None:
        labels = {"operation": self._operation or "", "outcome": outcome}
        self._measures.record(metric_table.RECALL_DURATION, self._request.elapsed(), labels)
        if error_code is not None:
            labels = {**labels, "error.type": error_code}
        self._measures.add(metric_table.RECALLS, 1, labels)

    def _stage(self, stage: str, operation: str, session_id: str, memory: Memory, history_count: int) -> None:
        with suppress(Exception):  # no failure of telemetry reaches a request
            session = session_uuid(session_id)
            self.spans.set(operation=operation, session_id=session, history_count=history_count)
            fields: dict[str, Field] = {
                "stage": stage,
                "operation": operation,
                "session_id": session,
                "memory": _told(memory, history_count),
            }
            if memory.waiting_for_param is not None:
                fields["waiting_for_param"] = told_name(memory.waiting_for_param)
            self._log(stage, fields)


class RecallTelemetry(Reporting):
    """Starts the telemetry of each request."""

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self:
        """Telemetry as ``environ`` asks for it. Raises ConfigurationError for an endpoint or a budget that is none."""
        return cls(Destinations.from_env(environ), name="recall", project=project_of(environ))

    def begin(self, environ: Mapping[str, Any], request_ref: str) -> RecallRequestTelemetry:
        """Start the request in a WSGI environment; ``request_ref`` is a UUID of its own."""
        return RecallRequestTelemetry(self._begun(environ, request_ref))


def _told(memory: Memory, history_count: int) -> Fields:
    """What a line says of a memory: ``params_others`` counts the parameters whose names are not told, if any."""
    params = told_names(memory.params)
    told = Fields(history_count=history_count, params_keys=params.names)
    if params.others:
        told["params_others"] = params.others
    return told
