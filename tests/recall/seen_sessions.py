"""Sessions in an embedded store as a window sees them, and a counter that anybody can count along."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from agent.bootstrap import capture_service_on, new_id
from agent.capture.service import CaptureRequest
from agent.content.policy import FULL
from agent.core.turn import SessionTurn
from agent.observability.tracing import NoSpans
from agent.recall.context import ContextRequest, ContextSettings, SessionWindows, Window, session_window
from agent.recall.held import HeldSessions
from agent.recall.source import Source
from agent.recall.tokens.models import ModelLimit
from agent.recall.view import SeenSession, View
from tests.core.session_turns import ONE, turn_id
from tests.recall.embedded import SESSION, Memory, embedded


@dataclass
class Characters:
    """A token is a character, and ``around`` more for each message; ``counted`` are the contents that were counted."""

    around: int = 0
    counted: list[str | None] = field(default_factory=list)
    name: str = "characters"
    is_exact: bool = True
    overhead: int = 0

    def __call__(self, turn: SessionTurn) -> int:
        self.counted.append(turn.content)
        return len(turn.content or "") + self.around


def limits(model: str) -> ModelLimit:
    """What ``limit-N`` takes are N tokens; any other model is unknown."""
    number = model.removeprefix("limit-")
    return ModelLimit(int(number), True, None) if number.isdecimal() else ModelLimit(8192, False, None)


def said(number: int, content: str = "words", role: str | None = None, **more: Any) -> dict[str, Any]:
    """A turn of a payload: users' have odd numbers."""
    timestamp = f"2026-03-02T{8 + number // 60:02}:{number % 60:02}:00Z"
    role = role or ("assistant", "user")[number % 2]
    return {"turn_id": turn_id(number), "role": role, "content": content, "timestamp": timestamp, **more}


@dataclass
class Sessions:
    """One session of a store: captured into, and looked at."""

    memory: Memory
    source: Source
    count: Characters = field(default_factory=Characters)

    def __post_init__(self) -> None:
        self.windows = SessionWindows(counters=lambda _: self.count, limits=limits)

    def capture(self, *turns: dict[str, Any], conversation: str = ONE, **more: Any) -> None:
        self.memory.capture({"session_id": SESSION, "conversation_id": conversation, "turns": turns, **more})

    def capture_body(self, body: dict[str, Any], form: str) -> None:
        """Capture what is no native payload."""
        request = CaptureRequest(json.dumps(body).encode(), form, None, new_id())
        capture_service_on(lambda: self.memory.client, FULL).capture(request, NoSpans())

    def see(self, view: View = View()) -> SeenSession:  # noqa: B008 - a view never changes
        return SeenSession(self.source.held.session(SESSION), view, self.source)

    def window(self, view: View = View(), *, settings: ContextSettings = ContextSettings(), **asked: Any) -> Window:  # noqa: B008 - neither changes
        return session_window(self.see(view), ContextRequest(**asked), settings, self.windows)


@contextmanager
def sessions(**more: Any) -> Iterator[Sessions]:
    """A store of its own; ``more`` is for how its sessions are held."""
    with embedded() as memory:
        reads = memory.client.reads
        yield Sessions(memory, Source.of(reads)._replace(held=HeldSessions(reads, longest_wait_s=0, **more)))


def contents(messages: Sequence[SessionTurn]) -> list[str | None]:
    return [turn.content for turn in messages]
