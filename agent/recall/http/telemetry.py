"""What a request of the read side reports about itself: a port, so that the surface knows neither logs nor spans.

Nothing that is reported holds content but ``contents``, of which the implementation tells no more than a size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from agent.core.memory import Memory
from agent.errors import AgentError


class Spans(Protocol):
    """Times the steps of one request: ``load`` and ``respond``."""

    def span(self, name: str) -> AbstractContextManager[None]: ...


class RequestTelemetry(Protocol):
    """Logs and spans of one request; the implementations never raise into it."""

    @property
    def spans(self) -> Spans: ...

    def called_by(self, key_name: str) -> None:
        """The caller is known by the key of this name."""

    def received(self, operation: str, session_id: str, *, memory: Memory, history_count: int) -> None:
        """The session was found: what it remembers, and how many turns its history has."""

    def context_loaded(self, session_id: str, *, total_messages: int, contents: Iterable[str | None]) -> None:
        """The ``contents`` of so many of the ``total_messages`` go into the answer; an erased one is None."""

    def context_pruned(self, session_id: str | None, *, kept: int, dropped: int, tokens: int, strategy: str) -> None:
        """A window of so many ``tokens`` leaves turns out; ``session_id`` is None where they are of no session."""

    def respond(self, operation: str, session_id: str, *, memory: Memory, history_count: int) -> None:
        """What the answer was made from."""

    def operating(self, operation: str, *, is_open: bool) -> None:
        """What is asked for: the name of its route. ``is_open``: it says nothing of anybody, and is no recall."""

    def answered(self, status: int) -> None:
        """The request is answered with this HTTP status."""

    def failed(self, error: AgentError) -> None:
        """The request was refused or failed; the error's cause is described by type and frames."""

    def end(self) -> None:
        """Export what is to be exported, under its own small bound. Comes last: what is said later is not sent."""


class RecallTelemetry(Protocol):
    """Starts the telemetry of each request."""

    def begin(self, environ: Mapping[str, Any], request_ref: str) -> RequestTelemetry:
        """Start a request: its trace context comes from the headers."""
