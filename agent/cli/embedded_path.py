"""Why a path can hold no embedded store, said at once and by name.

The store itself answers that it is unavailable, and a client retries that: right for a function, slow and dumb for a
person who mistyped a path.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from agent.bootstrap import embedded_fault
from agent.config import StoreAddress
from agent.errors import StoreConnectionError, StoreNotFound

# SQLite file format, 1.3.1. An empty file is a database that nobody wrote to yet.
_MAGIC: Final = b"SQLite format 3\0"
_IN_MEMORY: Final = ":memory:"


def is_absent(store: StoreAddress) -> bool:
    """Whether ``store`` is an embedded one whose database nobody made yet: opening it would."""
    return store.path is not None and store.path != _IN_MEMORY and not Path(store.path).exists()


def check_embedded_store(store: StoreAddress) -> None:
    """As ``check_embedded_path``, for who only asks for what is there: StoreNotFound where there is no database.

    A mistyped path must not leave an empty database behind.
    """
    check_embedded_path(store)
    if is_absent(store):
        raise StoreNotFound(f"there is no store at {store.path}: a capture makes one")


def check_embedded_path(store: StoreAddress) -> None:
    """Raise StoreConnectionError, with the path in its message, where no embedded store can be at it."""
    path = store.path
    if path is None or path == _IN_MEMORY:
        return
    # Behind links: SQLite makes the file that one leads to. Still a link is one that leads to itself.
    file = Path(os.path.realpath(path))
    try:
        if file.is_symlink():
            raise _refused(path, "its link leads nowhere")
        if file.exists() and not file.is_file() and not file.is_dir():
            raise _refused(path, "it is no file")
        if file.exists():
            with file.open("r+b") as database:
                _check_magic(path, database.read(len(_MAGIC)))
        elif not file.parent.is_dir():
            raise _refused(path, "its folder does not exist")
        elif not os.access(file.parent, os.W_OK | os.X_OK):
            raise _refused(path, "its folder may not be written")
    except OSError as error:
        raise _refused(path, os.strerror(error.errno or 0)) from error
    fault = embedded_fault(path)
    if fault is not None:
        raise _refused(path, fault)


def _check_magic(path: str, start: bytes) -> None:
    if start and start != _MAGIC:
        raise _refused(path, "it is a file of another kind")


def _refused(path: str, why: str) -> StoreConnectionError:
    return StoreConnectionError(f"the embedded store {path} cannot be opened: {why}")
