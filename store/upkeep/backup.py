"""``store backup``: a SQLite database copied while it is in use, as it was at one moment.

PostgreSQL has its own tool (``pg_dump``). What puts a copy back is ``store.upkeep.restore``, what was erased since
stands in ``store.privacy.ledger``.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from store.engines.connection import Connection as SqliteConnection
from store.engines.connection import connect, translated
from store.engines.database import Database
from store.errors import BadRequest
from store.log.event_store import EventStore
from store.privacy.ledger import erasures, reapply_ledger
from store.upkeep.beside import beside, take_place
from store.upkeep.restore import RestoreReport, restore

__all__ = ["BackupReport", "RestoreReport", "backup", "erasures", "reapply_ledger", "restore"]

# So many pages are copied before a signal is looked at.
_PAGES_A_STEP: Final = 1024
_PART: Final = ".part"


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A copy that was made: its events, and the size of the file."""

    events: int
    bytes: int


def backup(store: EventStore, target: Path) -> BackupReport:
    """Copy ``store`` to ``target``, which must not exist. Writers go on; what they write from now on is not in it.

    Raises BadRequest for a database that is no file.
    """
    engine = store.engine
    if not isinstance(engine, Database):
        raise BadRequest("PostgreSQL makes its own copies: pg_dump --format=custom --file=FILE URL")
    if target.exists():
        raise BadRequest("a backup is not written over a file that is there: name another")
    with engine.reading() as source, beside(target, _PART) as path:
        if not source.execute("PRAGMA database_list").fetchone()[2]:
            raise BadRequest("a database in memory has no backup")
        # The first read: from here on the transaction sees one state, so the copy does not begin anew with each write.
        (events,) = source.execute("SELECT count(*) FROM events").fetchone()
        _copy(source, path)
        size = path.stat().st_size
        take_place(path, target)
    return BackupReport(int(events), size)


def _copy(source: SqliteConnection, path: Path) -> None:
    with translated(), closing(connect(str(path), 0.0)) as copy:
        # It counts once it is whole, and is flushed to the disk then.
        copy.execute("PRAGMA synchronous = OFF")
        source.backup(copy, pages=_PAGES_A_STEP, progress=lambda _status, _remaining, _total: None)
