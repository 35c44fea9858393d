"""A database file that is made beside its place, and has the place when it is whole and on the disk.

Its own name is always the same: what a process that was killed left behind is removed by the next, and with it what
that copy held of content that was erased since.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from store.errors import DatabaseUnreachable, DiskFull, ReadOnlyDatabase, StoreAnswerError

# What SQLite keeps beside a database, and reads into it when it is opened.
_WAL: Final = "-wal"
_COMPANIONS: Final = (_WAL, "-shm", "-journal")
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
_NOT_ALLOWED: Final = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def beside(target: Path, suffix: str) -> Iterator[Path]:
    """An empty file beside ``target`` that its owner alone may read; gone afterwards, if it did not take the place.

    Raises the store's errors for the system's.
    """
    path = target.with_name(target.name + suffix)
    with _translated():
        remove_database(path)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            yield path
        finally:
            remove_database(path)


def take_place(path: Path, target: Path) -> None:
    """Give ``path`` the name ``target``, and what is there its end, in one step that survives power loss.

    A write-ahead log of the old database would be read into the new one: it goes first.
    """
    if path.with_name(path.name + _WAL).exists():
        raise DatabaseUnreachable("the new file does not hold all that was written to it")
    with path.open("rb") as file:
        os.fsync(file.fileno())
    _remove_companions(target)
    path.replace(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def remove_database(path: Path) -> None:
    """Remove a database file and what SQLite keeps beside it, if it is there."""
    path.unlink(missing_ok=True)
    _remove_companions(path)


def _remove_companions(path: Path) -> None:
    for suffix in _COMPANIONS:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _fault_of(error) from error


def _fault_of(error: OSError) -> StoreAnswerError:
    if error.errno in _NO_ROOM:
        return DiskFull("there is no room for the file")
    if error.errno in _NOT_ALLOWED:
        return ReadOnlyDatabase("the folder or the file may not be written")
    return DatabaseUnreachable("the file cannot be read or written")
