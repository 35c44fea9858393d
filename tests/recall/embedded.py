"""An embedded store in memory with who captures into it, and a view of its reads that watches what is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from agent.bootstrap import capture_service_on, new_id, store_client
from agent.capture.service import CaptureRequest
from agent.config import Settings
from agent.content.policy import FULL
from agent.core.turn import SessionTurn
from agent.observability.tracing import NoSpans
from agent.ruvector.client import RuvectorClient
from agent.ruvector.feed import FeedPage
from agent.ruvector.models import SessionRow
from agent.ruvector.reads import StoreReads
from agent.ruvector.turn_rows import TurnRows

SESSION = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"


@dataclass(frozen=True)
class Memory:
    """An embedded store, and who captures into it."""

    client: RuvectorClient

    def capture(self, payload: dict[str, Any]) -> int:
        """The event's position."""
        request = CaptureRequest(
            body=json.dumps(payload).encode(), format="native", idempotency_key=None, execution_ref=new_id()
        )
        answer = capture_service_on(lambda: self.client, FULL).capture(request, NoSpans())
        position: int = json.loads(answer.body)["receipt"]["position"]
        return position


@contextmanager
def embedded(path: str = ":memory:") -> Iterator[Memory]:
    found = Settings.from_env({"RUVECTOR_SERVICE_URL": f"embedded:{path}"})
    with closing(store_client(found)) as client:
        yield Memory(client)


def nothing(_: str) -> None:
    """What happens before a question where nothing is to happen."""


@dataclass
class Watched:
    """The reads of a store: ``asked`` are the questions, pages end after ``page`` turns, as a store may end them.

    ``before`` is called with each question before it is asked. ``forgetful``: turns come without their versions.
    """

    reads: StoreReads
    page: int = 1000
    before: Callable[[str], None] = nothing
    forgetful: bool = False
    asked: list[str] = field(default_factory=list)

    def session(self, session_id: str) -> SessionRow:
        self._ask("row")
        return self.reads.session(session_id)

    def turn_rows(self, session_id: str, *, limit: int = 1000, **which: Any) -> TurnRows:
        self._ask("turns")
        rows = self.reads.turn_rows(session_id, limit=min(limit, self.page), **which)
        return TurnRows(tuple(map(_without_version, rows.turns)), rows.size) if self.forgetful else rows

    def feed(self, after: str | None = None, *, limit: int = 100) -> FeedPage:
        self._ask("feed")
        return self.reads.feed(after, limit=limit)

    def taken(self) -> list[str]:
        """What was asked since this was called last."""
        asked, self.asked = self.asked, []
        return asked

    def _ask(self, question: str) -> None:
        self.asked.append(question)
        self.before(question)


def _without_version(turn: SessionTurn) -> SessionTurn:
    return replace(turn, fields={name: value for name, value in turn.fields.items() if name != "version"})
