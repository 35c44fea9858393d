"""What the turns of a capture say, read again from the bytes that were captured.

The answer holds ids and no content (CONTRACT 7). Whoever has just sent the bytes may look at them: this pairs each
turn of the answer with its role, its text and its calls, by the same readers that the capture used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.capture.document import open_wrapper, parse
from agent.capture.service import NATIVE
from agent.core.native import derive_ids
from agent.formats import reader


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A tool invocation as a turn names it; ``arguments`` is None where none are given."""

    tool_name: str
    arguments: Any = None

    def text(self) -> str:
        """The call as a program would write it: ``search(city="Lyon")``."""
        if self.arguments is None:
            return f"{self.tool_name}()"
        if isinstance(self.arguments, dict):
            given = ", ".join(f"{name}={_json(value)}" for name, value in self.arguments.items())
            return f"{self.tool_name}({given})"
        return f"{self.tool_name}({_json(self.arguments)})"


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """One turn: its role, its text, and its invocations by their node ids."""

    role: str
    content: str
    calls: Mapping[str, ShownCall]


def turns_shown(body: bytes, source: str, *, captured_at: str) -> tuple[ShownTurn, ...]:
    """The turns of ``body``, a capture in the format ``source`` that was accepted, in the order of the answer."""
    document = parse(body)
    if source == NATIVE:
        payload = open_wrapper(document).value
        if payload.get("capture_options", {}).get("derive_ids", False):
            payload = derive_ids(payload)
    else:
        payload = reader(source).read(document.value, captured_at=captured_at).payload
    return tuple(_shown(turn) for turn in payload["turns"])


def _shown(turn: Mapping[str, Any]) -> ShownTurn:
    calls = {
        entry["invocation_id"].lower(): ShownCall(entry["tool_name"], entry.get("arguments"))
        for entry in turn.get("tool_invocations", ())
    }
    return ShownTurn(turn["role"], turn["content"], calls)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
