"""``store backup``: a copy of the database in one file, made while the store is in use."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.result import print_result
from agent.cli.store.database import is_server, opened, store_settings
from agent.cli.store.postgresql_tools import dump_line
from agent.errors import ValidationError
from store.upkeep.backup import backup


@dataclass(frozen=True, slots=True)
class BackupCommand:
    """One backup into ``file``, which must not exist: a backup is never written over another."""

    file: str

    interrupted = "interrupted: there is no backup; remove what there is of the file"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Copy and print. The code is NOT_POSSIBLE for a database that is a server."""
        url = store_settings(invocation).url
        target = Path(self.file)
        if is_server(url):
            line = dump_line(url, self.file)
            invocation.terminal.say("PostgreSQL makes its own copies, while it is in use:", f"  {line}")
            return ExitCode.NOT_POSSIBLE
        _check_target(target)
        with opened(url) as store:
            report = backup(store, target)
        print_result(invocation, {"file": str(target), "events": report.events, "bytes": report.bytes})
        return ExitCode.OK


def _check_target(target: Path) -> None:
    if target.exists():
        raise ValidationError(f"{target} exists, and a backup is not written over a file: name another")
    if not target.parent.is_dir():
        raise ValidationError(f"cannot write {target}: its folder does not exist")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise ValidationError(f"cannot write {target}: its folder may not be written")
