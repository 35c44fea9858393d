"""A request as the operations see it: what it asks for, of which session, and where that is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from agent.core.ids import conversation_uuid, session_uuid, turn_uuid
from agent.core.session import fold
from agent.errors import NotFound, Problem, StoreNotFound, ValidationError
from agent.recall.held import HeldSession
from agent.recall.http.answer import Answer
from agent.recall.http.query import LONGEST_NAME, Query
from agent.recall.http.telemetry import RequestTelemetry
from agent.recall.source import Source
from agent.recall.view import SeenSession, View

# Which turns of a session; every read of one takes it.
VIEW: Final = ("conversation_id", "leaf", "at_seq", "at")
FRESH: Final = "min_version"


class Request(NamedTuple):
    """One request of an ``operation``; ``session_id`` is a UUID in lower case, empty where it is of no session."""

    environ: Mapping[str, Any]
    operation: str
    session_id: str
    open_source: Callable[[], Source]
    telemetry: RequestTelemetry

    @property
    def source(self) -> Source:
        """Where it is read; the first request that needs it connects."""
        return self.open_source()

    def query(self, *known: str) -> Query:
        """Its query, which may hold ``known`` names. Raises ValidationError."""
        return Query(self.environ, *known)

    def view(self, query: Query) -> View:
        """Which turns ``query`` asks for, by ids in their native form or as UUIDs."""
        conversation, leaf = (query.text(name, longest=LONGEST_NAME) for name in ("conversation_id", "leaf"))
        return View(
            None if conversation is None else conversation_uuid(conversation),
            None if leaf is None else turn_uuid(self.session_id, leaf),
            query.whole_number("at_seq"),
            query.instant("at"),
        )

    def see(self, query: Query, view: View, *, may_begin: bool = False) -> SeenSession:
        """The session in ``view``. Raises NotFound for what is not there, NotYetThere for what is not yet.

        ``may_begin``: a session or a conversation that is not there is about to begin, and is empty. Where ``query``
        asks for a version of it, it has begun.
        """
        # Every store has reached 0, which is the version of a session that is about to begin.
        min_version = query.whole_number(FRESH) or None
        with self.telemetry.spans.span("load"):
            try:
                held = self.source.held.session(self.session_id, min_version=min_version)
            except StoreNotFound as error:
                if not may_begin or min_version is not None:
                    raise NotFound("there is no such session") from error
                held = self._empty(version=0)
            if may_begin and view.conversation_id not in (None, *held.state.leaves):
                held, view = self._empty(version=held.version), View()
            seen = SeenSession(held, view, self.source)
            self.telemetry.received(
                self.operation, self.session_id, memory=seen.memory, history_count=len(seen.history)
            )
        return seen

    def _empty(self, *, version: int) -> HeldSession:
        return HeldSession(self.session_id, fold(()), version)

    def respond(self, seen: SeenSession) -> None:
        """Report what the answer is made from."""
        self.telemetry.respond(self.operation, self.session_id, memory=seen.memory, history_count=len(seen.history))


Operation = Callable[[Request], Answer]


def session_named(name: str) -> str:
    """The UUID of the session that a path names. Raises ValidationError for what can be no id (CONTRACT 3)."""
    if len(name) > LONGEST_NAME:
        raise ValidationError(f"a session's id has 1 to {LONGEST_NAME} characters", [Problem("$", "maxLength")])
    return session_uuid(name)
