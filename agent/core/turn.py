"""A turn of a session as its readers see it: one ``turn_id``, the latest revision (CONTRACT 10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SessionTurn:
    """One turn. Ids are lower-case UUIDs; ``seq`` counts from 1 in the session.

    ``parent_turn_id`` as the store resolved it, None for a root; it may name a turn that is not there (yet).
    ``fields`` are all members as the store gives them: what was captured, and what CONTRACT 10 adds. An erased turn
    is a skeleton: its ``content`` is None, and of its metadata there is what it does to the history, no more.
    """

    turn_id: str
    seq: int
    conversation_id: str
    parent_turn_id: str | None
    role: str
    content: str | None
    erased: bool
    fields: Mapping[str, Any]

    @property
    def timestamp(self) -> str | None:
        """When it was said, as it was captured; None where it is erased, or another writer left something else."""
        timestamp = self.fields.get("timestamp")
        return timestamp if isinstance(timestamp, str) else None

    @property
    def captured_at(self) -> str | None:
        """When it was captured first (RFC 3339); None where the store does not say."""
        captured_at: str | None = self.fields.get("captured_at")
        return captured_at

    @property
    def version(self) -> int:
        """The position of its last change; 0 where the store does not say."""
        version = self.fields.get("version")
        return version if isinstance(version, int) else 0

    @property
    def invocations(self) -> tuple[Mapping[str, Any], ...]:
        """Its ``tool_invocations``: calls, or on a tool turn the calls whose result it is.

        The store does not look at them, and another writer's may be anything: what is no object is left out.
        """
        named = self.fields.get("tool_invocations")
        return tuple(entry for entry in named if isinstance(entry, dict)) if isinstance(named, list) else ()

    @property
    def agent(self) -> str | None:
        """Who spoke, as the turn itself says it in ``metadata.agent`` (CONTRACT 1); None where that is no text."""
        metadata = self.fields.get("metadata")
        named = metadata.get("agent") if isinstance(metadata, dict) else None
        return named if isinstance(named, str) else None

    @property
    def memory(self) -> Mapping[str, Any]:
        """Its ``metadata.memory`` (CONTRACT 9); empty where there is none, or it is no object."""
        metadata = self.fields.get("metadata")
        memory = metadata.get("memory") if isinstance(metadata, dict) else None
        return memory if isinstance(memory, dict) else {}

    @property
    def is_state_only(self) -> bool:
        """Whether it carries state and is no message (CONTRACT 9); the skeleton of an erased one still says so."""
        is_empty = self.content == "" or self.erased
        return self.role == "system" and is_empty and self.memory.get("state_only") is True
