"""``store erasures``: the ledger that a restore needs, a JSON line for each erasure, without content; and its use.

``store restore`` applies a ledger by itself. A PostgreSQL database comes back by the server's own tools, and then it is
applied by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.store.actor import actor_of
from agent.cli.store.database import opened, store_settings
from agent.cli.store.ledger_file import counted, missing_lines, read_ledger, write_ledger
from agent.errors import ValidationError
from store.privacy.ledger import apply_ledger, erasures

_STDOUT: Final = "-"


@dataclass(frozen=True, slots=True)
class ErasuresCommand:
    """One ledger, into the file ``output`` or onto standard output. A file that is there is replaced by ``force``."""

    output: str
    force: bool = False

    interrupted = "interrupted: the ledger was not written"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Write the ledger; a file is replaced as a whole, or left as it was."""
        if self.output != _STDOUT and not self.force and Path(self.output).exists():
            raise ValidationError(f"{self.output} exists, and a ledger is written over a file only with --force")
        with opened(store_settings(invocation).url) as store:
            if self.output == _STDOUT:
                for line in erasures(store):
                    invocation.terminal.document(line.decode() + "\n")
                return ExitCode.OK
            count = write_ledger(Path(self.output), erasures(store))
        invocation.terminal.say(f"{self.output}: {counted(count)}")
        return ExitCode.OK


@dataclass(frozen=True, slots=True)
class ApplyCommand:
    """One application of the file ``ledger`` to a database that comes from a backup."""

    ledger: str

    interrupted = "interrupted: run it again before a store serves"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Erase what was erased since; what is erased already is left as it is.

        The code is PARTLY where the ledger names tenants that the database does not have.
        """
        lines = read_ledger(self.ledger)
        with opened(store_settings(invocation).url) as store:
            done = apply_ledger(store, lines, actor_of(invocation))
        invocation.terminal.say(
            f"{self.ledger}: {counted(done.applied)} applied, {done.emptied} of them emptied something, "
            f"{done.known} known already",
            *missing_lines(done.missing),
        )
        return ExitCode.PARTLY if done.missing else ExitCode.OK
