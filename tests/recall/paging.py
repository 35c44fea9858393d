"""A store's reads that answer from a script: what pages there are, and what goes wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from agent.errors import AgentError
from agent.ruvector.feed import FedEvent, FeedPage, read_event


def event(position: int | None, **members: Any) -> FedEvent:
    place = {} if position is None else {"position": position}
    envelope = {**place, "type": "conversation_capture", "runId": f"r-{position}", "payload": {}, **members}
    return read_event(json.dumps(envelope).encode())


def page(*positions: int | None, cursor: str | None = None, is_open: bool = False) -> FeedPage:
    return FeedPage(tuple(map(event, positions)), cursor, is_open)


class Scripted:
    """``reads``: each call takes the next answer, or raises it; ``asked`` are the questions."""

    def __init__(self, *answers: FeedPage | AgentError) -> None:
        self._answers: Iterator[FeedPage | AgentError] = iter(answers)
        self.asked: list[dict[str, Any]] = []

    def raw_events(self, *, shown: bool, **query: Any) -> FeedPage:
        assert shown
        self.asked.append(query)
        return self._next()

    def feed(self, after: str | None = None, *, shown: bool = False) -> FeedPage:
        self.asked.append({"after": after})
        return self._next()

    def _next(self) -> FeedPage:
        answer = next(self._answers)
        if isinstance(answer, AgentError):
            raise answer
        return answer
