"""``store erasures``: the ledger that ``store restore`` needs, a JSON line for each erasure, without content."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from store.backup import erasures

from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.store.database import opened, store_settings
from agent.errors import ValidationError

_STDOUT: Final = "-"


@dataclass(frozen=True, slots=True)
class ErasuresCommand:
    """One ledger, into the file ``output`` or onto standard output."""

    output: str

    interrupted = "interrupted: the ledger was not written"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Write the ledger; a file is replaced as a whole, or left as it was."""
        with opened(store_settings(invocation).url) as store:
            if self.output == _STDOUT:
                for line in erasures(store):
                    invocation.terminal.document(line.decode() + "\n")
                return ExitCode.OK
            count = _replace(Path(self.output), erasures(store))
        invocation.terminal.say(f"{self.output}: {count} erasures")
        return ExitCode.OK


def _replace(target: Path, lines: Iterable[bytes]) -> int:
    """Write ``lines`` beside ``target``, to the disk, and then in its place; returns how many there were."""
    beside = target.with_name(f"{target.name}.part")
    count = 0
    try:
        try:
            with beside.open("wb") as file:
                for line in lines:
                    file.write(line + b"\n")
                    count += 1
                file.flush()
                os.fsync(file.fileno())
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise ValidationError(f"cannot write {target}: {os.strerror(error.errno or 0)}") from error
    return count
