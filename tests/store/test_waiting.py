"""What a call waits for other writers is one total: those of this process, those of others, and opening together."""

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from agent.ruvector.embedded import EmbeddedTransport
from store.engines.database import Database
from store.engines.schema import MAX_SEQ
from store.engines.sqlite import SqliteStore
from store.errors import DatabaseLocked
from store.server import create_app
from tests.store.surface import SESSION, Surface, clock, envelope, payload, ref_of, turn

LONG_S = 30.0
# Waits are asked for in fractions of a second, and must be over long before LONG_S.
SOON_S = 5.0


@contextmanager
def held(path: Path, kind: str = "IMMEDIATE") -> Iterator[None]:
    """The database as another process would hold it."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute(f"BEGIN {kind}")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@pytest.fixture
def patient(tmp_path: Path) -> Iterator[Surface]:
    """A store that waits long where nobody asks for less."""
    opened = Surface(SqliteStore(tmp_path / "store.db", busy_timeout_s=LONG_S))
    yield opened
    opened.close()


def waited(database: Database, timeout_s: float) -> float:
    started = time.monotonic()
    with pytest.raises(DatabaseLocked), database.writing(timeout_s=timeout_s):
        pass
    return time.monotonic() - started


def test_a_write_waits_for_another_process_as_long_as_the_caller_has(patient: Surface, tmp_path: Path) -> None:
    database = patient.store.engine
    patient.capture(payload(turn(1)))
    with held(tmp_path / "store.db"):
        assert 0.15 < waited(database, 0.2) < SOON_S
        assert waited(database, 0.0) < SOON_S
        assert waited(database, -1.0) < SOON_S, "a deadline that is over is no wait"
    assert patient.capture(payload(turn(2)))["position"] == 2


def test_writers_of_one_process_that_queue_behind_another_process_share_the_time(
    patient: Surface, tmp_path: Path
) -> None:
    database = patient.store.engine
    patient.capture(payload(turn(1)))
    took: list[float] = []
    with held(tmp_path / "store.db"):
        threads = [threading.Thread(target=lambda: took.append(waited(database, 2.0))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    # One after the other they would take four times as long.
    assert len(took) == 4
    assert max(took) < 6.0


def test_what_the_lock_of_the_process_took_is_not_waited_for_again(tmp_path: Path) -> None:
    now = [0.0]
    entered, leave = threading.Event(), threading.Event()
    waiting = threading.get_ident()

    def read() -> float:
        seconds = now[0]
        if threading.get_ident() == waiting:
            leave.set()
        return seconds

    database = Database(str(tmp_path / "store.db"), busy_timeout_s=10, clock=read)

    def hold() -> None:
        with database.writing():
            entered.set()
            # Set free only once the other thread has read the clock, which it does when it finds the lock taken.
            assert leave.wait(LONG_S)
            now[0] += 4

    holder = threading.Thread(target=hold)
    holder.start()
    assert entered.wait(LONG_S)
    with database.writing(timeout_s=6) as connection:
        assert connection.execute("PRAGMA busy_timeout").fetchone() == (2000,)
    with database.writing() as connection:
        assert connection.execute("PRAGMA busy_timeout").fetchone() == (10_000,)
    holder.join()
    database.close()


def test_a_file_that_has_to_be_opened_first_is_waited_for_no_longer(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = SqliteStore(path, busy_timeout_s=LONG_S)
    store.ping()
    store.close()
    with held(path, "EXCLUSIVE"):
        assert waited(store.engine, 0.2) < SOON_S
    new = SqliteStore(tmp_path / "new.db", busy_timeout_s=LONG_S)
    with held(tmp_path / "new.db", "EXCLUSIVE"):
        assert waited(new.engine, 0.2) < SOON_S
        started = time.monotonic()
        with pytest.raises(DatabaseLocked):
            new.event("x", timeout_s=0.2)
        assert time.monotonic() - started < SOON_S
    new.ping()
    new.close()
    store.close()


def test_a_new_file_that_another_process_is_about_to_make_is_tried_again(tmp_path: Path) -> None:
    """SQLite says BUSY at once there, without the wait that it makes elsewhere."""
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            other.execute("ROLLBACK")

    database = Database(str(tmp_path / "store.db"), sleep=sleep)
    with database.writing() as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (0,)
    assert len(slept) == 2
    database.close()
    other.close()


def test_a_file_held_at_its_first_read_is_tried_again_as_long_as_there_is_time(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    # Time stands still: what SQLite waits by itself is not all there is.
    database = Database(
        str(tmp_path / "store.db"), busy_timeout_s=0.05, clock=lambda: 0.0, sleep=lambda _: other.rollback()
    )
    with database.writing() as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (0,)
    database.close()
    other.close()


def test_tables_that_another_process_makes_meanwhile_are_tried_again_and_then_used(tmp_path: Path) -> None:
    """The other one holds the file only once ours is in WAL mode and about to write its tables."""
    path = tmp_path / "store.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("BEGIN IMMEDIATE")
    database = Database(str(path), busy_timeout_s=0.2)
    with pytest.raises(DatabaseLocked), database.writing():
        pass
    other.execute("ROLLBACK")
    other.close()
    with database.writing() as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (0,)
    database.close()


def test_a_reader_in_a_hurry_leaves_no_short_wait_to_the_next(patient: Surface) -> None:
    patient.capture(payload(turn(1)))
    database = patient.store.engine
    with database.reading(timeout_s=0.5) as connection:
        assert connection.execute("PRAGMA busy_timeout").fetchone() == (500,)
    with database.reading() as connection:
        assert connection.execute("PRAGMA busy_timeout").fetchone() == (LONG_S * 1000,)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/decision-events"),
        ("GET", "/v1/decision-events"),
        ("GET", "/v1/decision-events/x"),
        ("GET", f"/v1/sessions/{SESSION}/turns?before_seq={MAX_SEQ}"),
        ("GET", "/health"),
    ],
)
def test_every_route_hands_the_callers_time_on(method: str, path: str, tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db", busy_timeout_s=LONG_S)
    transport = EmbeddedTransport(
        create_app(store, clock=clock, new_id=lambda: ref_of("event")), close_store=store.close
    )
    body = json.dumps(envelope(payload(turn(1)))).encode() if method == "POST" else b""
    with held(tmp_path / "store.db", "EXCLUSIVE"):
        started = time.monotonic()
        request = httpx.Request(
            method, f"http://embedded.invalid{path}", content=body, extensions={"deadline": started + 0.1}
        )
        assert transport.handle_request(request).status_code == 503
        assert time.monotonic() - started < SOON_S
    transport.close()
