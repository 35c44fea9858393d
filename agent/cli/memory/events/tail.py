"""``tail``: the newest DecisionEvents, then each new one when it comes, until Ctrl-C.

The newest are read up to a position and the feed is followed from it, so that what is captured in between comes once.
A store that goes away is told and waited for; what it says itself is never printed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Final

from agent.bootstrap import store_client
from agent.cli.embedded_path import check_embedded_store
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.listing import Listing
from agent.cli.memory import names
from agent.cli.memory.events.event_row import COLUMNS, event_row, session_of_fed
from agent.cli.raw_json import decoded
from agent.cli.terminal import Terminal
from agent.config import Settings
from agent.errors import AgentError, ConfigurationError
from agent.recall.events import events
from agent.recall.follow import Follow, position_of
from agent.ruvector.feed import FedEvent
from agent.ruvector.reads import StoreReads

# Oftener asks the store more than it tells; seldomer is a task for cron.
_SHORTEST_S: Final = 0.1
_LONGEST_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class TailCommand:
    """What is followed: one session or all. ``last``: how many of the newest come first; ``count``: how many in all.

    ``interval``: seconds between two questions where nothing is new. ``sleep`` waits for so many.
    """

    session_id: str | None
    last: int
    interval: float
    count: int | None
    sleep: Callable[[float], None] = time.sleep

    interrupted = "stopped"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Print and follow. Raises what ended it before the first event, or cannot pass by waiting."""
        settings = Settings.from_env(invocation.settings())
        # A number that is none is outside of every range.
        if not _SHORTEST_S <= self.interval <= _LONGEST_S:
            raise ConfigurationError("--interval", f"must be {_SHORTEST_S} to {_LONGEST_S:.0f} seconds")
        session = None if self.session_id is None else names.session_id(self.session_id)
        check_embedded_store(settings.store)
        with (
            closing(store_client(settings)) as client,
            Listing(invocation, "events", COLUMNS, follow=True) as listing,
        ):
            start = _newest_position(client.reads)
            newest = self._newest(client.reads, session, start)
            listing.open()
            follow = Follow(
                client.reads,
                after=start,
                interval=self.interval,
                sleep=self.sleep,
                away=partial(_say_away, invocation.terminal),
                back=lambda: invocation.terminal.say("the store is back"),
            )
            for event in islice(chain(newest, _of_session(follow.events(), session)), self.count):
                listing.add(decoded(event.text), partial(event_row, event))
        return ExitCode.OK

    def _newest(self, reads: StoreReads, session: str | None, start: int) -> list[FedEvent]:
        """The newest events up to ``start``, the oldest of them first."""
        last = self.last if self.count is None else min(self.last, self.count)
        found = list(events(reads, limit=last, order="desc", session_id=session))
        return [event for event in reversed(found) if position_of(event) <= start]


def _newest_position(reads: StoreReads) -> int:
    return next((position_of(event) for event in events(reads, limit=1, order="desc")), 0)


def _of_session(fed: Iterator[FedEvent], session: str | None) -> Iterator[FedEvent]:
    """The feed knows no sessions, so they are told apart here."""
    return (event for event in fed if session is None or session_of_fed(event) == session)


def _say_away(terminal: Terminal, error: AgentError) -> None:
    terminal.say(f"{error.message}; asking again until it is back")
