"""Which format a document of a file is in: the one that was named, or the first that knows it, in a fixed order.

What one document is depends on that document alone, so that a file that is imported again, or has grown, is read as
before. Of a file of records that belong together the first ones decide for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from agent.cli.memory.importing.recordings import Share, conversations_of, recording_of
from agent.errors import ValidationError
from agent.formats import NATIVE, OPENAI_CHAT, READS, Format, format_named
from agent.formats.conversation.message import Conversation
from agent.formats.wrappers import opened

AUTO: Final = "auto"
# Whose documents are lists of records, or of messages: a file may have one of these a line.
_OF_RECORDS: Final = (
    "claude-code",
    "codex",
    "otel-genai",
    "openinference",
    "google-adk",
    "openai-agents",
    "langchain",
    "pydantic-ai",
    "bedrock-converse",
    "gemini",
    "openai-responses",
    "anthropic",
    "sharegpt",
    OPENAI_CHAT,
)
_NATIVE_MEMBERS: Final = frozenset({"session_id", "conversation_id", "turns"})


class Recognised(NamedTuple):
    """A ``document`` that formats read, each its share: several where a recording holds calls of several providers.

    ``beside`` are the members of what it was wrapped in, ``unread`` how many calls nobody reads.
    """

    shares: tuple[Share, ...]
    document: Any
    beside: Mapping[str, Any]
    unread: int = 0


class Recognition:
    """Knows documents of all formats, or of the one that was ``asked`` for."""

    def __init__(self, asked: str = AUTO) -> None:
        self._asked = asked
        names = READS if asked == AUTO else (asked,)
        self._formats: dict[str, Format] = {name: format_named(name) for name in names if name != NATIVE}

    def format(self, name: str) -> Format:
        """The format ``name``, which it recognised."""
        return self._formats[name]

    def of_records(self, sample: Sequence[Any]) -> str | None:
        """The format of a file whose first values are ``sample``, where they are no documents but parts of one."""
        values = list(sample)
        for name in _OF_RECORDS:
            if name in self._formats and self._formats[name].detect(values):
                return name
        return None

    def is_native(self, value: Any) -> bool:
        """Whether ``value`` is a capture as CONTRACT 1 has it, in its wrapper (CONTRACT 7) or without."""
        if self._asked not in (AUTO, NATIVE) or not isinstance(value, dict):
            return False
        if self._asked == NATIVE:
            return True
        inner = value.get("payload", value) if "turns" not in value else value
        return isinstance(inner, dict) and inner.keys() >= _NATIVE_MEMBERS and isinstance(inner["turns"], list)

    def document(self, value: Any) -> Recognised | None:
        """What ``value``, an object or a list, is; None for what no format knows."""
        for name, form in self._formats.items():
            if form.detect(value):
                return self._recognised(name, value, {})
        for name, form in self._formats.items():
            inner = opened(value, form.detect)
            if inner is not None:
                return self._recognised(name, inner.document, inner.beside)
        if self._asked in self._formats:
            # Whoever names the format hears what is wrong with the document.
            return Recognised((Share(self._asked, value),), value, {})
        return None

    def read(self, known: Recognised) -> Iterator[tuple[str, Conversation | ValidationError]]:
        """The conversations of what was recognised, each with its format."""
        return conversations_of(known.shares, known.unread, self._formats)

    def _recognised(self, name: str, document: Any, beside: Mapping[str, Any]) -> Recognised:
        recording = recording_of(document, self._formats)
        if recording is None:
            return Recognised((Share(name, document),), document, beside)
        return Recognised(recording.shares, document, {**beside, **recording.beside}, recording.unread)
