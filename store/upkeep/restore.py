"""``store restore``: a backup in the place of a SQLite database, without what was erased since (CONTRACT 10a).

All that can fail is done to a copy beside the place, which is taken in one step. The database that is there counts as a
ledger too, where it can be read: what it erased is erased in the copy, and the turns that it buried stay buried.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from store.engines.connection import connect, translated
from store.engines.sqlite import SqliteStore
from store.errors import BadRequest, DamagedDatabase, NotADatabase
from store.port import Actor
from store.privacy.ledger import LedgerLine, missing_tenants, read_ledger, reapply
from store.upkeep.beside import beside, take_place
from store.upkeep.replaced_database import Replaced, replaced

_SQLITE: Final = "sqlite:///"
_IN_MEMORY: Final = ":memory:"
_PART: Final = ".restoring"
_WAL: Final = "-wal"


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """A backup that was put back: its events, and how many erasures it did not know.

    ``erasures_emptied`` of them found something to erase, ``erasures_replaced`` are those that the replaced database
    knew. ``missing`` are tenants of the ledger that the backup does not have.
    """

    events: int
    erasures_applied: int
    erasures_emptied: int = 0
    erasures_replaced: int = 0
    missing: tuple[str, ...] = ()


def restore(
    source: Path, target_url: str, *, ledger: Iterable[bytes] | None, force: bool, actor: Actor
) -> RestoreReport:
    """Put the backup ``source`` in the place that ``target_url`` names, with the erasures of ``ledger`` applied.

    Raises BadRequest where a database is there and it is not to be replaced by ``force``, or a line is none of a
    ledger; DatabaseLocked where another process has the database open; NotADatabase or DamagedDatabase for a source
    that is no whole database of ours. Then the place is as it was.
    """
    target = _path(target_url)
    lines = [] if ledger is None else read_ledger(ledger)
    if target.exists() and not force:
        raise BadRequest("a database is there already, and is replaced only with --force")
    if not source.is_file():
        raise BadRequest("the backup is not there, or is no file")
    with beside(target, _PART) as path:
        _copy(source, path)
        _check(path)
        with replaced(target) as old:
            report = _bring_up(path, lines, old, actor)
            _keep_owner(path, target)
            take_place(path, target)
    return report


def _path(url: str) -> Path:
    if not url.startswith(_SQLITE):
        raise BadRequest("PostgreSQL puts its own copies back (pg_restore); the ledger is applied afterwards")
    name = url.removeprefix(_SQLITE)
    if name in ("", _IN_MEMORY):
        raise BadRequest("a database in memory takes no backup")
    return Path(name)


def _copy(source: Path, path: Path) -> None:
    shutil.copyfile(source, path)
    log = source.with_name(source.name + _WAL)
    if log.exists():
        # A copy that was made by hand of a database that nobody had open: its last writes are there.
        shutil.copyfile(log, path.with_name(path.name + _WAL))


def _check(path: Path) -> None:
    """Raise NotADatabase or DamagedDatabase for what the store would not go on with, or would make anew."""
    with translated(), closing(connect(str(path), 0.0)) as copy:
        (version,) = copy.execute("PRAGMA user_version").fetchone()
        tables = {name for (name,) in copy.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        if version == 0 or not {"events", "turns"} <= tables:
            raise NotADatabase("the backup is no database of a store")
        if copy.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise DamagedDatabase("the backup is damaged")


def _bring_up(path: Path, lines: list[LedgerLine], old: Replaced, actor: Actor) -> RestoreReport:
    """Apply what was erased since, and leave nothing of it in the file."""
    with closing(SqliteStore(path)) as store:
        missing = missing_tenants(lines, store.tenants())
        done = reapply(store, [*lines, *old.lines], actor, restored=store.tenants())
        with store.engine.writing() as connection:
            old.bury(connection)
            (events,) = connection.execute("SELECT count(*) FROM events").fetchone()
        store.scrub()
    return RestoreReport(int(events), done.applied, done.emptied, len(old.lines), missing)


def _keep_owner(path: Path, target: Path) -> None:
    """Give the copy the mode and, as far as this user may, the owner of what it replaces."""
    with suppress(FileNotFoundError):
        there = target.stat()
        path.chmod(stat.S_IMODE(there.st_mode))
        with suppress(PermissionError):
            os.chown(path, there.st_uid, there.st_gid)
