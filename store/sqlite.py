"""The embedded engine: ``Store`` over one SQLite file, or in memory."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from store.append import append
from store.database import Database
from store.errors import Unavailable
from store.port import Appended, EventPage, EventsQuery, Submission, TurnsQuery
from store.reads import read_event, read_events, read_turns
from store.schema import DEFAULT_TENANT

# A health answer is wanted within 2 s (CONTRACT 7), also while another writer holds the database.
_PING_TIMEOUT_S = 0.5
# More than the slack that a file keeps: free pages and the write-ahead log's own reuse.
_PROBE_BYTES = 256 * 1024


class SqliteStore:
    """``path`` is a file that need not exist yet (its folder must), or ``:memory:``. Nothing is opened before use."""

    kind = "embedded"

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        busy_timeout_s: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = Database(os.fspath(path), busy_timeout_s=busy_timeout_s, clock=clock)
        self._last_write_failed = False

    def append(self, submission: Submission, *, timeout_s: float | None = None) -> Appended:
        try:
            with self._database.writing(timeout_s=timeout_s) as connection:
                appended = append(connection, DEFAULT_TENANT, submission)
        except Unavailable:
            self._last_write_failed = True
            raise
        self._last_write_failed = False
        return appended

    def event(self, execution_ref: str, *, timeout_s: float | None = None) -> bytes:
        with self._database.reading(timeout_s=timeout_s) as connection:
            return read_event(connection, DEFAULT_TENANT, execution_ref)

    def events(self, query: EventsQuery, *, timeout_s: float | None = None) -> EventPage:
        with self._database.reading(timeout_s=timeout_s) as connection:
            return read_events(connection, DEFAULT_TENANT, query)

    def turns(self, query: TurnsQuery, *, timeout_s: float | None = None) -> tuple[bytes, ...]:
        with self._database.reading(timeout_s=timeout_s) as connection:
            return read_turns(connection, DEFAULT_TENANT, query)

    def ping(self, *, timeout_s: float | None = None) -> None:
        """Take the write lock; after a write that failed, write too: only that tells whether there is room again."""
        wait_s = _PING_TIMEOUT_S if timeout_s is None else min(timeout_s, _PING_TIMEOUT_S)
        with self._database.writing(timeout_s=wait_s) as connection:
            if self._last_write_failed:
                connection.execute("INSERT INTO write_probe (filler) VALUES (zeroblob(?))", (_PROBE_BYTES,))
        if self._last_write_failed:
            with self._database.writing(timeout_s=wait_s) as connection:
                connection.execute("DELETE FROM write_probe")
            self._last_write_failed = False

    def close(self) -> None:
        self._database.close()
