"""``retrieve``: the DecisionEvents of a query, each as it is stored, of any number and in memory one page at a time."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from functools import partial

from agent.bootstrap import store_client
from agent.cli.embedded_path import check_embedded_store
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.listing import Listing
from agent.cli.memory import names
from agent.cli.memory.events.event_filters import event_filters
from agent.cli.memory.events.event_row import COLUMNS, event_row
from agent.cli.memory.list_end import explain_end
from agent.cli.raw_json import decoded
from agent.config import Settings
from agent.recall.events import events
from agent.ruvector.reads import EventFilters


@dataclass(frozen=True, slots=True)
class RetrieveCommand:
    """Which events, by what the command line says; None is what it does not say. ``order`` is asc or desc."""

    limit: int
    order: str
    session_id: str | None = None
    conversation_id: str | None = None
    since: str | None = None
    until: str | None = None
    agent_id: str | None = None
    decision_type: str | None = None

    interrupted = "interrupted: the list is not whole"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Read and print. Raises as ``agent.recall.events`` does, also after some were printed."""
        settings = Settings.from_env(invocation.settings())
        which = self._which()
        check_embedded_store(settings.store)
        with closing(store_client(settings)) as client, Listing(invocation, "events", COLUMNS) as listing:
            found = events(client.reads, limit=self.limit, **which)
            for event in found:
                listing.add(decoded(event.text), partial(event_row, event))
            listing.members["more"] = found.more
        which_end = "newest" if self.order == "desc" else "first"
        explain_end(invocation, "event", listing.count, which=which_end, more=found.more)
        return ExitCode.OK

    def _which(self) -> EventFilters:
        filters = event_filters(
            session_id=self.session_id, conversation_id=self.conversation_id, since=self.since, until=self.until
        )
        filters["order"] = self.order
        if self.agent_id is not None:
            filters["agent_id"] = names.label("--agent-id", self.agent_id)
        if self.decision_type is not None:
            filters["decision_type"] = names.label("--decision-type", self.decision_type)
        return filters
