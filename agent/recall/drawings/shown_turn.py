"""What a turn says, as people are shown it. Whatever stands in place of a turn makes one: nothing is refused here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.core.graph import is_state_only


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A tool invocation as a turn names it; ``arguments`` is None where none are given, ``tool_name`` where erased."""

    tool_name: str | None
    arguments: Any = None

    def text(self) -> str:
        """The call as a program would write it: ``search(city="Lyon")``."""
        if self.tool_name is None:
            return "[unknown]"
        if self.arguments is None:
            return f"{self.tool_name}()"
        if isinstance(self.arguments, dict):
            given = ", ".join(f"{name}={_json(value)}" for name, value in self.arguments.items())
            return f"{self.tool_name}({given})"
        return f"{self.tool_name}({_json(self.arguments)})"


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """One turn: its role, its text, and its invocations by their node ids. None is what it does not say."""

    role: str | None
    content: str | None
    calls: Mapping[str, ShownCall]
    erased: bool = False
    is_state_only: bool = False
    memory: Mapping[str, Any] = field(default_factory=dict)
    """Its ``metadata.memory`` (CONTRACT 9); empty where there is none, or it is no object."""

    @classmethod
    def of(cls, turn: object) -> ShownTurn:
        """What ``turn`` says, a turn as CONTRACT 1 has it, its skeleton (CONTRACT 10a), or anything else."""
        fields: Mapping[str, Any] = turn if isinstance(turn, dict) else {}
        entries = fields.get("tool_invocations")
        named = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
        calls = {
            entry["invocation_id"].lower(): ShownCall(_text(entry.get("tool_name")), entry.get("arguments"))
            for entry in named
            if isinstance(entry.get("invocation_id"), str)
        }
        metadata = fields.get("metadata")
        memory = metadata.get("memory") if isinstance(metadata, dict) else None
        return cls(
            role=_text(fields.get("role")),
            content=_text(fields.get("content")),
            calls=calls,
            erased=fields.get("erased") is True,
            is_state_only=is_state_only({"role": None, **fields}),
            memory=memory if isinstance(memory, dict) else {},
        )


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else _json(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
