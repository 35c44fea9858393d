"""Copies of filled SQLite databases, and what the tests of backups ask of them."""

from contextlib import closing
from pathlib import Path
from typing import Any

from store.log.event_store import EventStore
from store.upkeep.backup import RestoreReport, backup, restore
from store.upkeep.verify import verify
from store.urls import open_store
from tests.store.filled import ACTOR, Filling, fill
from tests.store.surface import Surface, payload, turn

LINE = {
    "tenant": "default",
    "position": 999,
    "kind": "turn",
    "subject": "00" * 16,
    "at": "2026-05-01T00:00:00Z",
    "key_name": "k",
    "sessions": 0,
    "turns": 0,
    "events": 0,
}


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def opened(path: Path) -> closing[EventStore]:
    return closing(open_store(url(path)))


def filled_in(folder: Path) -> Path:
    """A filled database in ``folder``, which is made for it."""
    folder.mkdir()
    with opened(folder / "store.db") as store:
        fill(store, with_golden=False)
        Filling(store, "acme").capture(payload(turn(1, "of acme")))
    return folder / "store.db"


def copied(live: Path, target: Path) -> Path:
    """A backup of ``live`` at ``target``."""
    with opened(live) as store:
        backup(store, target)
    return target


def events(path: Path) -> Any:
    with opened(path) as store, closing(Surface(store)) as surface:
        return surface.events()


def is_clean(path: Path) -> bool:
    with opened(path) as store:
        return verify(store, print).findings == 0


def restored(source: Path, target: Path, ledger: list[bytes] | None = None, *, force: bool = True) -> RestoreReport:
    return restore(source, url(target), ledger=ledger, force=force, actor=ACTOR)
