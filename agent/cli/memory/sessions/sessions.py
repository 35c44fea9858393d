"""``sessions``: the sessions of a store, newest activity first, of any number and in memory one page at a time.

It is how a session is found whose id nobody remembers: by its user, its agent, a tag, a time or words that were said.
In a document each row has what the store gives of it, and no member that the store left out.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from agent.bootstrap import store_client
from agent.cli.columns import Column
from agent.cli.embedded_path import check_embedded_store
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.listing import Listing
from agent.cli.memory import names
from agent.cli.memory.events.event_filters import time_range
from agent.cli.memory.events.event_row import in_seconds
from agent.cli.memory.list_end import explain_end
from agent.config import Settings
from agent.recall.sessions import Sessions

if TYPE_CHECKING:
    from agent.ruvector.models import SessionRow
    from agent.ruvector.reads import SessionFilters

# The id is shown whole: a part of one finds nothing. What a caller named a session by can be long, and the id stands
# for it.
_COLUMNS: Final = (
    Column("session", 36),
    Column("last activity", len("2026-03-02T08:15:00Z")),
    Column("turns", 5, right=True),
    Column("own id", 26),
    Column("first words", 20),
)
_NOTHING: Final = "-"


@dataclass(frozen=True, slots=True)
class SessionsCommand:
    """Which sessions, by what the command line says; None is what it does not say."""

    limit: int
    user_id: str | None = None
    agent_id: str | None = None
    tag: str | None = None
    conversation_id: str | None = None
    search: str | None = None
    since: str | None = None
    until: str | None = None

    interrupted = "interrupted: the list is not whole"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Read and print. Raises as ``agent.recall.sessions`` does, also after some were printed."""
        settings = Settings.from_env(invocation.settings())
        which = self._which()
        check_embedded_store(settings.store)
        with closing(store_client(settings)) as client, Listing(invocation, "sessions", _COLUMNS) as listing:
            found = Sessions(client.reads, limit=self.limit, **which)
            for session in found:
                listing.add(_document(session), partial(_row, session))
            listing.members["more"] = found.more
        explain_end(invocation, "session", listing.count, which="newest", more=found.more)
        return ExitCode.OK

    def _which(self) -> SessionFilters:
        filters: SessionFilters = {}
        if self.user_id is not None:
            filters["user_id"] = names.user_id(self.user_id)
        if self.agent_id is not None:
            filters["agent_id"] = names.label("--agent-id", self.agent_id)
        if self.tag is not None:
            filters["tag"] = names.label("--tag", self.tag)
        if self.conversation_id is not None:
            filters["conversation_id"] = names.conversation_id(self.conversation_id)
        if self.search is not None:
            filters["q"] = names.words("--search", self.search)
        filters["since"], filters["until"] = time_range(self.since, self.until)
        return filters


def _document(session: SessionRow) -> str:
    # A store may count to any number: no integer is too large for this encoder.
    return json.dumps(session.model_dump(exclude_unset=True), ensure_ascii=False, separators=(",", ":"))


def _row(session: SessionRow) -> list[str]:
    return [
        session.session_id,
        in_seconds(session.last_activity),
        str(session.turn_count),
        session.native_session_id or _NOTHING,
        session.first_user_content or _NOTHING,
    ]
