"""Which format a document of a file is in: the one that was named, or the first that knows it, in a fixed order.

What one document is depends on that document alone, so that a file that is imported again, or has grown, is read as
before. Of a file of records that belong together the first ones decide for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from agent.formats import NATIVE, OPENAI_CHAT, READS, Format, format_named
from agent.formats.conversation.recording import recorded_calls
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
    """A ``document`` that the formats ``names`` read; several where a recording holds calls of several providers.

    ``beside`` are the members of what it was wrapped in.
    """

    names: tuple[str, ...]
    document: Any
    beside: Mapping[str, Any]


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
                return Recognised(self._all(name, value), value, {})
        for name, form in self._formats.items():
            inner = opened(value, form.detect)
            if inner is not None:
                return Recognised(self._all(name, inner.document), inner.document, inner.beside)
        if self._asked in self._formats:
            # Whoever names the format hears what is wrong with the document.
            return Recognised((self._asked,), value, {})
        return None

    def _all(self, first: str, document: Any) -> tuple[str, ...]:
        if not isinstance(document, dict) or recorded_calls(document) is None:
            return (first,)
        return tuple(name for name, form in self._formats.items() if form.detect(document))
