"""The ledger of erasures as a file: read whole before anything is done by it, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from agent.errors import ValidationError


def read_ledger(name: str) -> list[bytes]:
    """The lines of the ledger ``name``. Raises ValidationError where it cannot be read."""
    try:
        return [line for line in Path(name).read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise ValidationError(f"cannot read {name}: {os.strerror(error.errno or 0)}") from error


def write_ledger(target: Path, lines: Iterable[bytes]) -> int:
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
