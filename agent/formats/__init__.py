"""Foreign formats: what other programs hold as a conversation, read into the native payload and written again.

A format is a module with three functions, found by its name and loaded when it is asked for, so that a function that
only sees native payloads does not pay for it at its cold start. ``native`` is no foreign format: the caller handles it
before it asks here. A name that nobody reads is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, cast, get_args

from agent.errors import Problem, ValidationError

if TYPE_CHECKING:
    from agent.formats.conversation.message import Conversation
    from agent.formats.writing import Session, Written

NATIVE: Final = "native"
MARKDOWN: Final = "markdown"
TEXT: Final = "text"
OPENAI_CHAT: Final = "openai-chat"

# In the order in which a document is tried: a format that says more of itself comes before one that says less.
ReadName = Literal[
    "chatgpt-export",
    "claude-export",
    "claude-code",
    "codex",
    "otel-genai",
    "openinference",
    "google-adk",
    "pydantic-ai",
    "openai-agents",
    "langchain",
    "bedrock-converse",
    "gemini",
    "openai-responses",
    "anthropic",
    "swe-agent",
    "sharegpt",
    "openai-chat",
]
WriteName = Literal[
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "bedrock-converse",
    "langchain",
    "openai-agents",
    "google-adk",
    "pydantic-ai",
    "otel-genai",
    "openinference",
    "sharegpt",
]
READS: Final[tuple[str, ...]] = get_args(ReadName)
WRITES: Final[tuple[str, ...]] = get_args(WriteName)


class Translation(NamedTuple):
    """A foreign body as a native payload.

    ``payload`` has UUIDs for ids, with the native strings beside them, and is for ``validate_payload`` to confirm.
    ``warnings`` name unknown fields of the body by their paths there, at most 50. ``snapshot_path`` is the path of
    the list that is the conversation so far; None where the body only adds to it.
    """

    payload: dict[str, Any]
    warnings: tuple[Problem, ...]
    snapshot_path: str | None


class Format(Protocol):
    """What every format's module offers (``agent/formats/<name>.py``, the hyphens of its name as underscores)."""

    def detect(self, document: Any) -> bool:
        """Whether ``document``, a JSON value, is in this format, as far as its shape tells; never raises."""
        ...

    def read(self, document: Any) -> Iterator[Conversation | ValidationError]:
        """The conversations of ``document``, in order; an error, with paths in the document, in place of one that
        cannot be read, so that the others still can. ``document`` is left as it is.
        """
        ...

    def write(self, session: Session) -> Written:
        """The history of ``session`` in this format. Only of the formats in ``WRITES``."""
        ...


class Reader(Protocol):
    """What a capture needs of a foreign format."""

    def read(self, body: dict[str, Any], *, captured_at: str) -> Translation:
        """Translate ``body``, which is left as it is; ``captured_at`` (RFC 3339) is the time of turns without one.

        Raises ValidationError with all problems, at most 50, by their paths in ``body``.
        """
        ...


def format_named(name: str) -> Format:
    """The format ``name``. Raises LookupError for one that nobody reads or writes."""
    if name not in READS and name not in WRITES:
        raise LookupError(name)
    return cast("Format", import_module(f"agent.formats.{name.replace('-', '_')}"))


def reader(name: str) -> Reader:
    """The reader of the format ``name``. Raises ValidationError (rule ``enum``) for a format that nobody reads."""
    if name not in READS:
        raise ValidationError(f"the format is none of: native, {', '.join(READS)}", [Problem("$", "enum")])
    from agent.formats.posted import PostedReader

    return PostedReader(name)
