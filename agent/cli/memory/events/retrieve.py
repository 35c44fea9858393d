"""``retrieve``: the DecisionEvents of a query, each as it is stored, of any number and in memory one page at a time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from agent.bootstrap import store_client
from agent.cli.embedded_path import check_embedded_store
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.listing import Listing
from agent.cli.memory import names
from agent.cli.memory.events.event_row import COLUMNS, event_row
from agent.cli.output_format import Format
from agent.cli.raw_json import decoded
from agent.config import Settings
from agent.core.timestamps import instant
from agent.errors import ConfigurationError
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
        if invocation.format is Format.TABLE or invocation.jsonl:
            # A document says so itself.
            self._explain(invocation, listing.count, more=found.more)
        return ExitCode.OK

    def _explain(self, invocation: Invocation, count: int, *, more: bool | None) -> None:
        """Say what the rows cannot: that there are none, or that they are not all."""
        if more is False:
            if count == 0:
                invocation.terminal.say("no event found")
            return
        which = "newest" if self.order == "desc" else "first"
        there_are = "there are more" if more else "the store does not say whether there are more"
        invocation.terminal.say(f"these are the {which} {count} events; {there_are} (see --limit)")

    def _which(self) -> EventFilters:
        filters: EventFilters = {
            "order": self.order,
            "session_id": _read(names.session_id, self.session_id),
            "conversation_id": _read(names.conversation_id, self.conversation_id),
            "agent_id": _read(partial(names.label, "--agent-id"), self.agent_id),
            "decision_type": _read(partial(names.label, "--decision-type"), self.decision_type),
            "since": _read(partial(names.instant, "--from"), self.since),
            "until": _read(partial(names.instant, "--to"), self.until),
        }
        since, until = filters["since"], filters["until"]
        if since is not None and until is not None and instant(since) > instant(until):
            raise ConfigurationError("--from", "is after --to")
        return filters


def _read(read: Callable[[str], str], given: str | None) -> str | None:
    """What ``read`` makes of an option, where it is ``given``."""
    return None if given is None else read(given)
