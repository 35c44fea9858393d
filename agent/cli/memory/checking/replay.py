"""``replay``: events rebuilt from their own inputs and compared; without ``--dry-run`` appended again as they came.

Appended to the same store an event is a duplicate, and the store says so. Appended to another one it is a copy that
keeps its ``inputs_hash``, ``execution_ref`` and ``timestamp``. What differs or cannot be rebuilt is not appended.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from agent.bootstrap import store_client
from agent.cli.columns import Column
from agent.cli.embedded_path import check_embedded_path, check_embedded_store
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.listing import Listing
from agent.cli.memory.checking.copies import Copier, Copy
from agent.cli.memory.checking.replay_shown import MOST_SHOWN, counts_document, difference_text, document, verdict_text
from agent.cli.memory.events.asked_event import asked_event
from agent.cli.memory.events.event_filters import event_filters, none_found
from agent.cli.other_store import OtherStore
from agent.cli.output_format import Format
from agent.cli.result import facts_table
from agent.config import Settings
from agent.core.replay import Verdict
from agent.errors import ValidationError
from agent.recall.events import events
from agent.recall.replay import Replayed, Replays, replayed
from agent.ruvector.client import RuvectorClient
from agent.ruvector.feed import FedEvent
from agent.ruvector.reads import EventFilters

_COLUMNS: Final = (
    Column("execution ref", 36),
    Column("position", 9, right=True),
    Column("copy", len("duplicate")),
    Column("verdict", 40),
)
_NEEDED: Final = "replay needs either an execution ref or filters (--session-id, --conversation-id, --from, --to)"


@dataclass(frozen=True, slots=True)
class ReplayCommand:
    """One event by its ``execution_ref``, or all that the filters name. ``into``: where copies go; None: back.

    With ``into`` and no filter it is every event.
    """

    execution_ref: str | None
    session_id: str | None
    conversation_id: str | None
    since: str | None
    until: str | None
    dry_run: bool
    into: str | None
    key_variable: str

    interrupted = "interrupted: what was appended stays; the same command again appends nothing twice"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Replay and print."""
        which = self._which()
        settings = Settings.from_env(invocation.settings())
        check_embedded_store(settings.store)
        with ExitStack() as stack:
            reader = stack.enter_context(closing(store_client(settings)))
            copier = stack.enter_context(self._copier(invocation, settings, reader))
            if self.execution_ref is None:
                return self._many(invocation, reader, which, copier)
            return self._one(invocation, asked_event(reader.reads, self.execution_ref, shown=False), copier)

    def _which(self) -> EventFilters:
        which = event_filters(
            session_id=self.session_id, conversation_id=self.conversation_id, since=self.since, until=self.until
        )
        # A copy of a whole store is a thing to ask for; appending each event to its own store again is none.
        if self.execution_ref is None and not which and self.into is None:
            raise ValidationError(f"{_NEEDED}; every event is what verify looks at, and --into copies")
        if self.execution_ref is not None and which:
            raise ValidationError(f"{_NEEDED}, not both")
        return which

    @contextmanager
    def _copier(self, invocation: Invocation, settings: Settings, reader: RuvectorClient) -> Iterator[Copier | None]:
        """Who appends; None where nothing is to be. An embedded store that copies go into is made if need be."""
        other = None if self.into is None else OtherStore("--into", self.into, self.key_variable)
        address = None if other is None else other.address(invocation.terminal.environ)
        if self.dry_run:
            yield None
        elif other is None or address is None:
            yield Copier(reader, None)
        else:
            check_embedded_path(address)
            with closing(store_client(settings._replace(store=address))) as writer:
                yield Copier(writer, other)

    def _one(self, invocation: Invocation, event: FedEvent, copier: Copier | None) -> ExitCode:
        found = replayed(event)
        copy = _copied(event, found, copier)
        told = _document(found, copy)
        if invocation.format is Format.TABLE:
            facts = facts_table(_facts(found, copy), encoding=invocation.terminal.encoding)
            invocation.terminal.show(facts)
        else:
            invocation.print_json(json.dumps(told, ensure_ascii=False).encode())
        codes = {Verdict.DIFFERS: ExitCode.DIFFERS, Verdict.NOT_POSSIBLE: ExitCode.NOT_POSSIBLE}
        return codes.get(found.replay.verdict, ExitCode.PARTLY if copy is not None and copy.is_refused else ExitCode.OK)

    def _many(
        self, invocation: Invocation, reader: RuvectorClient, which: EventFilters, copier: Copier | None
    ) -> ExitCode:
        replays = Replays()
        copies: Counter[str] = Counter()
        with Listing(invocation, "replays", _COLUMNS) as listing:
            for event in events(reader.reads, shown=False, **which):
                found = replayed(event)
                copy = _copied(event, found, copier)
                replays.add(found.replay)
                copies.update([] if copy is None else [copy.status])
                told = json.dumps(_document(found, copy), ensure_ascii=False)
                listing.add(told, partial(_row, found, copy))
            if not replays.events:
                raise none_found(
                    session_id=self.session_id,
                    conversation_id=self.conversation_id,
                    since=self.since,
                    until=self.until,
                )
            listing.members |= counts_document(replays)
            if copier is not None:
                listing.members["copies"] = dict(copies)
            listing.note(_summary(replays, copies))
        return _code(replays, copies)


def _copied(event: FedEvent, found: Replayed, copier: Copier | None) -> Copy | None:
    """What came of the copy; None where there was to be none."""
    if copier is None:
        return None
    return copier.copy(event) if found.replay.verdict is Verdict.IDENTICAL else Copy.not_made(found.replay.verdict)


def _document(found: Replayed, copy: Copy | None) -> dict[str, Any]:
    told = document(found)
    return told if copy is None else {**told, "appended": copy.document()}


def _facts(found: Replayed, copy: Copy | None) -> Iterator[tuple[str, str]]:
    yield "execution ref", found.execution_ref or "(none)"
    if found.position is not None:
        yield "position", str(found.position)
    yield "verdict", verdict_text(found.replay)
    differences = found.replay.differences
    yield from ((each.path, difference_text(each)) for each in differences[:MOST_SHOWN])
    if len(differences) > MOST_SHOWN:
        yield "", f"and {len(differences) - MOST_SHOWN} more"
    if copy is not None:
        yield "appended", copy.text


def _row(found: Replayed, copy: Copy | None) -> list[str]:
    return [
        found.execution_ref or "-",
        "-" if found.position is None else str(found.position),
        "-" if copy is None else copy.status.replace("_", " "),
        verdict_text(found.replay),
    ]


def _summary(replays: Replays, copies: Counter[str]) -> str:
    counts = [f"{count} {verdict.value.replace('_', ' ')}" for verdict, count in sorted(replays.verdicts.items())]
    counts += [f"{count} {status.replace('_', ' ')}" for status, count in sorted(copies.items())]
    return f"{replays.events} event{'' if replays.events == 1 else 's'}: {', '.join(counts)}"


def _code(replays: Replays, copies: Counter[str]) -> ExitCode:
    if replays.verdicts[Verdict.DIFFERS]:
        return ExitCode.DIFFERS
    if replays.verdicts[Verdict.NOT_POSSIBLE] == replays.events:
        return ExitCode.NOT_POSSIBLE
    if replays.verdicts[Verdict.NOT_POSSIBLE] or copies["refused"]:
        return ExitCode.PARTLY
    return ExitCode.OK
