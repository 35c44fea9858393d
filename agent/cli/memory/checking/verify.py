"""``verify``: every event of a store rebuilt from its own inputs and compared; nothing is written.

It asks the store as any client does, so it works on every store. What the store cannot read, and what it visibly lacks,
are findings too. What ``memory-graph store verify`` adds for whoever runs one is the database itself: its rows, keys
and indexes, and what is lost without a trace that a reader sees.
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
from agent.cli.memory.checking.findings import Finding, Findings
from agent.cli.memory.checking.positions import Empty, SeenPositions, look_at_empty, newest_version
from agent.cli.memory.checking.replay_shown import REASONS, counts_document, difference_document, difference_text
from agent.cli.memory.events.event_filters import event_filters, events_text, none_found
from agent.cli.output_format import Format
from agent.cli.result import facts_table
from agent.config import Settings
from agent.core.difference import Difference
from agent.core.replay import Verdict
from agent.errors import RateLimitExceeded, StoreDamaged, StoreError
from agent.recall.replay import Replayed, Replays, Verification
from agent.ruvector.reads import EventFilters, StoreReads

_LONGEST_NAME: Final = 64
_STORE_VERIFY: Final = "what the store itself has lost: memory-graph store verify"


@dataclass(slots=True)
class _Found:
    """Counts of all events, and the first ``limit`` differences, each with the event that it is in.

    ``which`` says which events were asked for; empty: all. ``findings`` are of events that cannot be replayed.
    """

    limit: int
    which: str
    findings: Findings
    replays: Replays = field(default_factory=Replays)
    shown: list[tuple[Replayed, Difference]] = field(default_factory=list)
    seen: SeenPositions = field(default_factory=SeenPositions)
    unexplained: int | None = None

    def add(self, replayed: Replayed) -> None:
        self.replays.add(replayed.replay)
        self.seen.see(replayed.position)
        left = self.limit - len(self.shown)
        self.shown.extend((replayed, difference) for difference in replayed.replay.differences[:left])

    def add_damaged(self, error: StoreDamaged) -> None:
        self.findings.add(Finding.of(error))
        self.seen.see(error.position)

    def add_empty(self, empty: Empty) -> None:
        for finding in empty.findings:
            self.findings.add(finding)
        self.unexplained = empty.unexplained

    @property
    def differs(self) -> bool:
        return bool(self.replays.verdicts[Verdict.DIFFERS] or self.findings.count)


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
        text = events_text(session_id=self.session_id, since=self.since, until=self.until)
        found = _Found(self.limit, text, Findings(self.limit))
        with closing(store_client(settings)) as client:
            walk = _Walk(client.reads, found, which)
            try:
                is_whole = walk.run()
            except (StoreError, RateLimitExceeded):
                if found.replays.events or found.findings.count:
                    # What was found until then counts, and where to look further.
                    _print(invocation, found, complete=False)
                    invocation.terminal.say(f"no more was read behind position {walk.highest}")
                raise
        if which and not found.replays.events and not found.findings.count:
            raise none_found(session_id=self.session_id, since=self.since, until=self.until)
        _print(invocation, found, complete=is_whole)
        if walk.is_open:
            invocation.terminal.say("the store does not say whether there are more events: what is behind was not read")
        elif not is_whole:
            invocation.terminal.say("the store cannot read what it keeps: not everything was looked at")
        if found.differs:
            return ExitCode.DIFFERS
        return ExitCode.OK if found.replays.is_whole and is_whole else ExitCode.PARTLY


@dataclass(slots=True)
class _Walk:
    """One look along the events, and at what lies between them. ``highest``: the last position that it is done with."""

    reads: StoreReads
    found: _Found
    which: EventFilters
    highest: int = -1
    is_open: bool = False

    def run(self) -> bool:
        """Whether all could be looked at. Raises what keeps the store from answering."""
        try:
            cursor = self._events(None)
            if self.which or self.is_open or not self.found.seen.are_told:
                return not self.is_open
            newest = newest_version(self.reads)
            if newest > self.found.seen.last and (cursor is not None or not self.found.seen.last):
                # It may have come since the feed ended, or is the first of all: an empty feed has no cursor.
                self._events(cursor)
            self.found.seen.reach(newest)
            self.found.add_empty(look_at_empty(self.reads, self.found.seen))
        except StoreDamaged as error:
            # It does not say how to go on behind what it cannot read.
            self.found.findings.add(Finding.of(error))
            return False
        return not self.is_open

    def _events(self, after: str | None) -> str | None:
        """Look at each event from the cursor ``after`` on; where they end."""
        walk = Verification(self.reads, after=after, damaged=self.found.add_damaged, **self.which)
        try:
            for replayed in walk:
                self.found.add(replayed)
        finally:
            self.highest, self.is_open = max(self.highest, walk.highest), walk.is_open
        return walk.cursor


def _print(invocation: Invocation, found: _Found, *, complete: bool) -> None:
    if invocation.format is Format.TABLE:
        invocation.terminal.show(facts_table(_facts(found), encoding=invocation.terminal.encoding))
        return
    # A store may name any number of anything: no integer is too large for this encoder.
    invocation.print_json(json.dumps(_document(found, complete=complete), ensure_ascii=False).encode())


def _document(found: _Found, *, complete: bool) -> dict[str, Any]:
    replays = found.replays
    return {
        "ok": not found.differs,
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
        "finding_count": found.findings.count,
        "findings": [finding.document() for finding in found.findings.shown],
        "unexplained_positions": found.unexplained,
    }


def _facts(found: _Found) -> list[tuple[str, str]]:
    replays = found.replays
    facts = [
        ("verified", f"events {found.which}" if found.which else "all events of the store"),
        ("result", _result(found)),
        ("events", str(replays.events)),
        ("identical", str(replays.verdicts[Verdict.IDENTICAL])),
    ]
    facts += [("not possible", f"{replays.reasons[reason]}: {REASONS[reason]}") for reason in replays.reasons]
    facts += [(finding.kind, f"{finding.subject}  {finding.detail}") for finding in found.findings.shown]
    facts += [(_name(replayed), f"{each.path}  {difference_text(each)}") for replayed, each in found.shown]
    more = replays.differences - len(found.shown) + found.findings.count - len(found.findings.shown)
    if more:
        facts.append(("", f"and {more} more (--limit)"))
    if found.unexplained:
        facts.append(("positions", f"{found.unexplained} without an event: erased, or lost"))
    return [*facts, ("beyond", _STORE_VERIFY)]


def _result(found: _Found) -> str:
    replays, damaged = found.replays, found.findings.count
    differing = replays.verdicts[Verdict.DIFFERS]
    said = [f"{differing} of {replays.events} events differ"] if differing else []
    said += [f"{damaged} {'finding' if damaged == 1 else 'findings'} of what is damaged or lost"] if damaged else []
    if said:
        return ", ".join(said)
    return "nothing differs" if replays.events else "there is no event"


def _name(replayed: Replayed) -> str:
    # Any text can be a reference, and its column is as wide as the longest.
    return (replayed.execution_ref or f"position {replayed.position}")[:_LONGEST_NAME]
