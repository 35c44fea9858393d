"""``verify``: every event of a store rebuilt from its own inputs and compared; nothing is written.

It asks the store as any client does, so it works on every store. What ``memory-graph store verify`` adds for whoever
runs one is the database itself: its rows, keys and indexes.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from agent.bootstrap import store_client
from agent.cli.embedded_path import check_embedded_store
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.memory.checking.replay_shown import REASONS, counts_document, difference_document, difference_text
from agent.cli.memory.events.event_filters import event_filters, events_text, none_found
from agent.cli.output_format import Format
from agent.cli.result import facts_table
from agent.config import Settings
from agent.core.difference import Difference
from agent.core.replay import Verdict
from agent.errors import RateLimitExceeded, StoreError
from agent.recall.replay import Replayed, Replays, Verification

_LONGEST_NAME: Final = 64


@dataclass(frozen=True, slots=True)
class _Found:
    """Counts of all events, and the first ``limit`` differences, each with the event that it is in.

    ``which`` says which events were asked for; empty: all.
    """

    limit: int
    which: str
    replays: Replays = field(default_factory=Replays)
    shown: list[tuple[Replayed, Difference]] = field(default_factory=list)

    def add(self, replayed: Replayed) -> None:
        self.replays.add(replayed.replay)
        left = self.limit - len(self.shown)
        self.shown.extend((replayed, difference) for difference in replayed.replay.differences[:left])


@dataclass(frozen=True, slots=True)
class VerifyCommand:
    """One look at every event, or at those that the filters name. ``limit`` differences are shown, and all counted."""

    limit: int
    session_id: str | None = None
    since: str | None = None
    until: str | None = None

    interrupted = "interrupted: nothing was changed, and not every event was looked at"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Verify and print. The code is DIFFERS where an event does, PARTLY where not all could be looked at.

        Raises StoreNotFound where the filters name no event.
        """
        which = event_filters(session_id=self.session_id, conversation_id=None, since=self.since, until=self.until)
        settings = Settings.from_env(invocation.settings())
        check_embedded_store(settings.store)
        found = _Found(self.limit, events_text(session_id=self.session_id, since=self.since, until=self.until))
        with closing(store_client(settings)) as client:
            verification = Verification(client.reads, **which)
            try:
                for replayed in verification:
                    found.add(replayed)
            except (StoreError, RateLimitExceeded):
                if found.replays.events:
                    # What was found until then counts, and where to look further.
                    _print(invocation, found, complete=False)
                    invocation.terminal.say(f"no more was read behind position {verification.highest}")
                raise
        if which and not found.replays.events:
            raise none_found(session_id=self.session_id, since=self.since, until=self.until)
        _print(invocation, found, complete=not verification.is_open)
        if verification.is_open:
            invocation.terminal.say("the store does not say whether there are more events: what is behind was not read")
        if found.replays.verdicts[Verdict.DIFFERS]:
            return ExitCode.DIFFERS
        return ExitCode.OK if found.replays.is_whole and not verification.is_open else ExitCode.PARTLY


def _print(invocation: Invocation, found: _Found, *, complete: bool) -> None:
    if invocation.format is Format.TABLE:
        invocation.terminal.show(facts_table(_facts(found), encoding=invocation.terminal.encoding))
        return
    # A store may name any number of anything: no integer is too large for this encoder.
    invocation.print_json(json.dumps(_document(found, complete=complete), ensure_ascii=False).encode())


def _document(found: _Found, *, complete: bool) -> dict[str, Any]:
    replays = found.replays
    return {
        "ok": replays.verdicts[Verdict.DIFFERS] == 0,
        "complete": complete,
        **counts_document(replays),
        "differences": [
            {
                "execution_ref": replayed.execution_ref,
                "position": replayed.position,
                **difference_document(difference),
            }
            for replayed, difference in found.shown
        ],
    }


def _facts(found: _Found) -> list[tuple[str, str]]:
    replays = found.replays
    differing = replays.verdicts[Verdict.DIFFERS]
    result = f"{differing} of {replays.events} events differ" if differing else "nothing differs"
    facts = [
        ("verified", f"events {found.which}" if found.which else "all events of the store"),
        ("result", result if replays.events else "there is no event"),
        ("events", str(replays.events)),
        ("identical", str(replays.verdicts[Verdict.IDENTICAL])),
    ]
    facts += [("not possible", f"{replays.reasons[reason]}: {REASONS[reason]}") for reason in replays.reasons]
    facts += [(_name(replayed), f"{each.path}  {difference_text(each)}") for replayed, each in found.shown]
    if replays.differences > len(found.shown):
        facts.append(("", f"and {replays.differences - len(found.shown)} more (--limit)"))
    return facts


def _name(replayed: Replayed) -> str:
    # Any text can be a reference, and its column is as wide as the longest.
    return (replayed.execution_ref or f"position {replayed.position}")[:_LONGEST_NAME]
