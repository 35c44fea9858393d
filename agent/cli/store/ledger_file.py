"""The ledger of erasures as a file: read whole before anything is done by it, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import orjson

from agent.errors import ValidationError


def read_ledger(name: str) -> list[bytes]:
    """The lines of the ledger ``name``. Raises ValidationError where it cannot be read."""
    try:
        return [line for line in Path(name).read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise ValidationError(f"cannot read {name}: {os.strerror(error.errno or 0)}") from error


def write_ledger(target: Path, lines: Iterable[bytes]) -> int:
    """Write ``lines`` beside ``target``, to the disk, and then in its place; returns how many erasures they are."""
    beside = target.with_name(f"{target.name}.part")
    count = 0
    try:
        try:
            with beside.open("wb") as file:
                for line in lines:
                    file.write(line + b"\n")
                    count += _is_erasure(line)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise ValidationError(f"cannot write {target}: {os.strerror(error.errno or 0)}") from error
    return count


def counted(erasures: int) -> str:
    """So many erasures, for people."""
    return f"{erasures} erasure{'' if erasures == 1 else 's'}"


def missing_lines(tenants: Iterable[str]) -> list[str]:
    """What people are told of tenants that a ledger names and the database does not have."""
    return [
        f"the ledger names tenant {tenant}, which this database does not have: nothing of it was erased here"
        for tenant in tenants
    ]


def _is_erasure(line: bytes) -> bool:
    # The other lines name turns that were erased with something: they have no position of their own.
    return "position" in orjson.loads(line)
