"""Logs and spans of one request of the recall function, as its HTTP surface uses them. Nothing here raises into it.

A request that concerns a session is told in three lines: ``received``, with what the session was found to remember;
``conversation_context_loaded``, with how much of it goes into the answer; ``respond``, with what the answer was made
from. A window that leaves turns out says ``context_pruned``, with how many. Told are ids, counts and names (CONTRACT
8): of a parameter its name, and that only where it reads as one; of a session its UUID, since a native session id is a
caller's text. Their counts go onto the span that is open, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from agent.core.ids import session_uuid
from agent.core.memory import Memory
from agent.observability.logs import Field, Fields
from agent.observability.parameter_names import told_name, told_names
from agent.observability.reporting import Reporting, RequestReport
from agent.observability.token_estimate import estimated_tokens

RECEIVED: Final = "received"
RESPOND: Final = "respond"
CONTEXT_LOADED: Final = "conversation_context_loaded"
CONTEXT_PRUNED: Final = "context_pruned"


class RecallRequestTelemetry(RequestReport):
    """What one request of a reader reports about itself."""

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
        """The trace of the caller; without one the request's own reference, which has the same 32 digits."""
        _, ref, trace, _ = self._request
        return ref.replace("-", "") if trace is None else trace.trace_id

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
