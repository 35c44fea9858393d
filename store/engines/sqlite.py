"""The store over one SQLite file, or in memory."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from store.engines.database import Database
from store.log.event_store import EventStore


class SqliteStore(EventStore):
    """``path`` is a file that need not exist yet (its folder must), or ``:memory:``. Nothing is opened before use."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        busy_timeout_s: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(Database(os.fspath(path), busy_timeout_s=busy_timeout_s, clock=clock))
