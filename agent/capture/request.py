"""What a capture is asked and what it answers: the words that its HTTP surface and its service share.

Nothing here parses, validates or writes: an instance has this from its start, and the service from its first capture.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from agent.core.receipt import TurnCounts

NATIVE: Final = "native"


class Spans(Protocol):
    """Where the three spans of a capture go; attributes are ids and counts."""

    @property
    def traceparent(self) -> str | None:
        """The W3C header for what is called inside the open step; None where the request is of no trace."""

    def span(self, name: str) -> AbstractContextManager[None]:
        """Time one step: validate, build or append."""

    def set(self, **attributes: str | int | bool) -> None:
        """Put ids and counts on the span that is open."""

    def conversation(self, conversation_id: str, *, input_tokens: int | None, output_tokens: int | None) -> None:
        """Say which conversation the capture is of, a UUID, and how many tokens its turns say that they took."""


class CaptureRequest(NamedTuple):
    """One posted capture: its bytes after inflation, the named format, the caller's Idempotency-Key."""

    body: bytes
    format: str
    idempotency_key: str | None
    execution_ref: str


class CaptureAnswer(NamedTuple):
    """A success: the encoded body, the reference that counts, and the counts that may be logged.

    ``counts`` are the store's, None where it does not say; ``attempts`` is how often the append was tried.
    """

    body: bytes
    execution_ref: str
    duplicate: bool
    turn_count: int
    ruvector_latency_ms: int
    counts: TurnCounts | None = None
    attempts: int = 1


class Capture(Protocol):
    """What an HTTP surface needs of the service behind it."""

    def capture(self, request: CaptureRequest, spans: Spans) -> CaptureAnswer:
        """Validate, build, append, answer; raises an AgentError for what is refused or did not come about."""
