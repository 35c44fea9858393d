"""``store restore``: puts a backup in the database's place and applies the erasures made since (CONTRACT 10a)."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.result import print_result
from agent.cli.store.actor import actor_of
from agent.cli.store.database import is_server, store_settings
from agent.cli.store.failures import store_failures
from agent.cli.store.ledger_file import missing_lines, read_ledger
from agent.cli.store.postgresql_tools import restore_line
from agent.errors import ValidationError
from store.upkeep.backup import RestoreReport, restore


@dataclass(frozen=True, slots=True)
class RestoreCommand:
    """One restore of ``file``; ``ledger`` is what ``store erasures`` wrote, None where nothing was erased since."""

    file: str
    ledger: str | None
    force: bool

    interrupted = "interrupted: run it again with --force before the store serves"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Restore and print. The code is NOT_POSSIBLE for a database that is a server.

        It is PARTLY where the ledger names tenants that the backup does not have.
        """
        url = store_settings(invocation).url
        if is_server(url):
            line = restore_line(url, self.file)
            invocation.terminal.say(
                "PostgreSQL puts its own copies back; then the ledger is applied, before a store serves:",
                f"  {line}",
                f"  {shlex.join(['memory-graph', 'store', 'erasures', '--apply', self.ledger or 'LEDGER'])}",
            )
            return ExitCode.NOT_POSSIBLE
        _check_readable(self.file)
        ledger = None if self.ledger is None else read_ledger(self.ledger)
        with store_failures():
            report = restore(Path(self.file), url, ledger=ledger, force=self.force, actor=actor_of(invocation))
        counts = {"erasures_applied": report.erasures_applied, "erasures_emptied": report.erasures_emptied}
        print_result(invocation, {"events": report.events, **counts})
        if ledger is None:
            invocation.terminal.say(_without_ledger(report))
        for line in missing_lines(report.missing):
            invocation.terminal.say(line)
        return ExitCode.PARTLY if report.missing else ExitCode.OK


def _without_ledger(report: RestoreReport) -> str:
    if report.erasures_replaced:
        return "no ledger was given: only what the replaced database had erased is erased again (--erasures)"
    return (
        "no ledger was given, and no replaced database named an erasure: "
        "erasures made since the backup are NOT applied (--erasures)"
    )


def _check_readable(name: str) -> None:
    try:
        with Path(name).open("rb") as file:
            file.read(1)
    except OSError as error:
        raise ValidationError(f"cannot read {name}: {os.strerror(error.errno or 0)}") from error
