"""``import``: files of other programs' conversations, each conversation captured in process, none stored twice.

Everything about it can be repeated: what is there already is found by its hash, and what grew adds what grew. So Ctrl-C
loses nothing, and neither does the same command again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.bootstrap import capture_service_on, store_client
from agent.cli.embedded_path import check_embedded_path
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.memory.importing.account import Account, Told
from agent.cli.memory.importing.capturing import Capturing
from agent.cli.memory.importing.checkpoint import Checkpoint, State, state_folder, state_of
from agent.cli.memory.importing.conversations import EMPTY, Conversations, Found, Refused
from agent.cli.memory.importing.file_walk import FileWalk, Mark, Step
from agent.cli.memory.importing.found_files import sources_of
from agent.cli.memory.importing.lanes import Lanes
from agent.cli.memory.importing.located import is_key
from agent.cli.memory.importing.nothing_read import nothing_read
from agent.cli.memory.importing.progress import Bar, bar
from agent.cli.memory.importing.recognition import Recognition
from agent.cli.memory.importing.report import FileTold, Report
from agent.cli.memory.importing.sources import DAMAGED, NO_JSON, Source, Unreadable
from agent.cli.memory.importing.spool import Spool
from agent.cli.output_format import Format
from agent.config import Settings, StoreAddress
from agent.core.timestamps import utc_text
from agent.errors import AgentError, ConfigurationError, StoreNotFound, StoreWriteError, ValidationError

if TYPE_CHECKING:
    from agent.capture.service import CaptureService
    from agent.ruvector.client import RuvectorClient

UNREADABLE = "files that cannot be read"


@dataclass(frozen=True, slots=True)
class ImportCommand:
    """One import: the files as they were named, and the options. ``new_id`` makes the references of events."""

    names: Sequence[str]
    asked: str
    at: str | None
    source_name: str | None
    dry_run: bool
    resume: bool
    new_id: Callable[[], str]

    interrupted = "interrupted: what was done is stored; the same import goes on where it ended, sooner with --resume"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Import and print. Raises AgentError for what was refused before, and where the store does not take it."""
        if self.at is not None and not is_key(self.at):
            raise ValidationError("--at takes the names of members, as data.messages")
        for option, given in (("--at", self.at), ("--source", self.source_name)):
            if given is not None and not _is_text(given):
                raise ConfigurationError(option, "is not text in this terminal's encoding")
        with Spool() as spool:
            sources = sources_of(self.names, invocation.terminal.stdin, spool)
            if self.dry_run:
                return _Run(self, invocation, Checkpoint(None, ()), None, None).files(sources)
            settings = Settings.from_env(invocation.settings())
            check_embedded_path(settings.store)
            with closing(store_client(settings)) as client:
                checkpoint = Checkpoint(state_folder(invocation.terminal.environ), self._identity(settings.store))
                if self.resume:
                    checkpoint.load(lambda reference: _has_event(client, reference))
                service = capture_service_on(lambda: client, settings.content)
                return _Run(self, invocation, checkpoint, client, service).files(sources)

    def _identity(self, store: StoreAddress) -> list[str | None]:
        """All that decides what an import does, but for the files themselves."""
        where = str(store.url) if store.path is None else os.path.realpath(store.path)
        return [where, self.asked, self.at, self.source_name, *map(os.path.realpath, self.names)]


@dataclass(slots=True)
class _File:
    """One file while it is imported."""

    source: Source
    walk: FileWalk
    state: State
    account: Account = field(default_factory=Account)
    # Those of which other records may say more.
    met: set[str] = field(default_factory=set)
    refused: ValidationError | None = None
    unreadable: str | None = None


@dataclass(frozen=True, slots=True)
class _At:
    """A step of a file; ``step`` is None for its end."""

    file: _File
    step: Step | None
    progress: float


class _Run:
    """One run of the command."""

    def __init__(
        self,
        command: ImportCommand,
        invocation: Invocation,
        checkpoint: Checkpoint,
        client: RuvectorClient | None,
        service: CaptureService | None,
    ) -> None:
        self._command = command
        self._invocation = invocation
        self._checkpoint = checkpoint
        self._recognition = Recognition(command.asked)
        self._captured_at = utc_text(invocation.clock())
        self._lanes: Lanes[_At] = Lanes(
            Capturing(
                service,
                stored=lambda reference: None if client is None else _stored(client, reference),
                new_id=command.new_id,
                wait=lambda seconds: not self._lanes.stopped.wait(seconds),
            )
        )
        self._report = Report(invocation, dry_run=command.dry_run, is_located=command.at is not None)
        self._bar = Bar(None, 0)
        self._current: _File | None = None
        self._mark: Mark | None = None
        self._read = self._missed = 0

    def files(self, sources: Sequence[Source]) -> ExitCode:
        """Import all of them. What was done is told however it ends."""
        total = sum(map(_size, sources))
        with self._report, self._lanes:
            try:
                shown = self._invocation.format is not Format.TABLE
                with bar(self._invocation.terminal, total=total, results_are_shown=shown) as self._bar:
                    for at, told in self._lanes.outcomes(self._steps(sources)):
                        self._take(at, told)
            except (KeyboardInterrupt, AgentError):
                self._give_up()
                raise
        self._checkpoint.remove()
        if not self._read:
            return ExitCode.NOT_POSSIBLE
        return ExitCode.PARTLY if self._missed else ExitCode.OK

    def _steps(self, sources: Sequence[Source]) -> Iterator[tuple[_At, Sequence[Found | Refused]]]:
        for source in sources:
            file = self._opened(source)
            if file is None:
                continue
            try:
                for step in file.walk.steps():
                    yield _At(file, step._replace(found=()), file.walk.progress), step.found
            except Unreadable as error:
                file.unreadable = error.reason
            yield _At(file, None, 1.0), ()

    def _opened(self, source: Source) -> _File | None:
        """``source`` to be walked through, from where an earlier run ended; None where that was its end."""
        command = self._command
        # Before it is opened: what takes its place later is another file.
        state = state_of(source)
        reached = self._checkpoint.of(source, state)
        conversations = Conversations(
            self._recognition, name=command.source_name or source.name, at=command.at, captured_at=self._captured_at
        )
        start = None if reached is None else reached.mark
        walk = FileWalk(source, self._recognition, conversations, at=command.at, start=start)
        file = _File(source, walk, state)
        if reached is not None:
            file.account = reached.account
            if reached.mark is None:
                self._end(file)
                return None
        return file

    def _take(self, at: _At, told: Sequence[Told]) -> None:
        if self._current is not at.file:
            self._current, self._mark = at.file, None
            self._bar.file(at.file.source.shown, _size(at.file.source))
        if at.step is None:
            reason = at.file.unreadable
            if reason is not None:
                kind = reason if reason in (DAMAGED, NO_JSON) else UNREADABLE
                at.file.account.skip(kind)
                self._report.unreadable(at.file.source, kind, reason)
            self._checkpoint.reached(at.file.source, at.file.state, None, at.file.account, None)
            self._end(at.file)
            self._current = None
            return
        file, step = at.file, at.step
        if step.skipped is not None:
            file.account.skip(step.skipped)
            self._report.skipped(file.source, step)
        if step.skipped is None and not told:
            # A format knows it, and nothing was said in it.
            file.account.ignored[EMPTY] += 1
        reference = None
        for each in told:
            file.account.add(each, is_met=each.conversation_id in file.met)
            if step.may_come_again:
                file.met.add(each.conversation_id)
            file.refused = file.refused or each.error
            reference = each.reference or reference
            self._report.conversation(file.source, each)
        self._bar.update(at.progress, len(told))
        if step.mark is not None:
            self._mark = step.mark
            self._checkpoint.reached(file.source, file.state, step.mark, file.account, reference)

    def _end(self, file: _File) -> None:
        nothing = file.unreadable
        if nothing is None and not file.account.conversations:
            command = self._command
            nothing = nothing_read(file.walk, file.account, asked=command.asked, at=command.at, refused=file.refused)
        self._read += file.account.conversations
        self._missed += file.account.skipped.total()
        self._report.file(FileTold(file.source, file.account, nothing if not file.account.conversations else None))

    def _give_up(self) -> None:
        """Count what was still done, and note how far that is."""
        self._lanes.stop()
        for at, told in self._lanes.finished():
            self._take(at, told)
        file = self._current
        if file is not None:
            if self._mark is not None:
                self._checkpoint.note(file.source, file.state, self._mark, file.account)
            self._report.file(FileTold(file.source, file.account, None))
        self._checkpoint.save()


def _is_text(given: str) -> bool:
    """Whether it is: an argument in another encoding than the process's arrives as half surrogate pairs."""
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return True


def _size(source: Source) -> int:
    with suppress(OSError):
        return source.path.stat().st_size
    return 0


def _stored(client: RuvectorClient, reference: str) -> Mapping[str, Any] | None:
    """The payload of this event; None where the store has no such event to show, or shows none."""
    try:
        return client.event(reference).payload
    except (StoreNotFound, StoreWriteError):
        return None


def _has_event(client: RuvectorClient, reference: str) -> bool:
    """Whether the store has this event; where it does not say, nothing is skipped."""
    try:
        client.event(reference)
    except AgentError:
        return False
    return True
