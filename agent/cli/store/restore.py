"""``store restore``: puts a backup in the database's place and applies the erasures made since (CONTRACT 10a)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from store.backup import restore

from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.store.actor import actor_of
from agent.cli.store.database import is_server, store_settings
from agent.cli.store.failures import store_failures
from agent.cli.store.postgresql_tools import restore_line
from agent.cli.store.result import print_result
from agent.errors import ValidationError


@dataclass(frozen=True, slots=True)
class RestoreCommand:
    """One restore of ``file``; ``ledger`` is what ``store erasures`` wrote, None where nothing was erased since."""

    file: str
    ledger: str | None
    force: bool

    interrupted = "interrupted: run it again with --force before the store serves"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Restore and print. The code is NOT_POSSIBLE for a database that is a server."""
        url = store_settings(invocation).url
        if is_server(url):
            line = restore_line(url, self.file)
            invocation.terminal.say("PostgreSQL puts its own copies back, while no store serves:", f"  {line}")
            return ExitCode.NOT_POSSIBLE
        _check_readable(self.file)
        ledger = None if self.ledger is None else _lines(self.ledger)
        with store_failures():
            report = restore(Path(self.file), url, ledger=ledger, force=self.force, actor=actor_of(invocation))
        print_result(invocation, {"events": report.events, "erasures_applied": report.erasures_applied})
        if ledger is None:
            invocation.terminal.say("no ledger was given: what was erased since the backup is back (--erasures)")
        return ExitCode.OK


def _lines(name: str) -> Iterator[bytes]:
    """The lines of the ledger, which is opened now: one that cannot be read stops the restore before it begins."""
    _check_readable(name)
    return (line for line in Path(name).read_bytes().splitlines() if line.strip())


def _check_readable(name: str) -> None:
    try:
        with Path(name).open("rb") as file:
            file.read(1)
    except OSError as error:
        raise ValidationError(f"cannot read {name}: {os.strerror(error.errno or 0)}") from error
