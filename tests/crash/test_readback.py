"""What reads a store back after a crash finds what a crash could do: each planted here, and named."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from store.engines.sqlite import SqliteStore
from tests.crash.ledger import Ledger
from tests.crash.readback import Readback
from tests.crash.traffic import Traffic
from tests.crash.writers import Writer
from tests.store.scripts import OTHER_SESSION
from tests.store.surface import SESSION, Surface

LAST_EVENT = "(SELECT max(event_key) FROM events)"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def surface(database: Path) -> Iterator[Surface]:
    surface = Surface(SqliteStore(database))
    yield surface
    surface.close()


@pytest.fixture
def ledger(surface: Surface) -> Ledger:
    """Of two writers who have written a while."""
    ledger = Ledger()
    writers = [Writer(surface.client, ledger, random.Random(seed)) for seed in (1, 2)]
    for _ in range(30):
        for writer in writers:
            assert writer.step("", SESSION)
    return ledger


def found(surface: Surface, ledger: Ledger) -> Readback:
    readback = Readback(surface.client, ledger)
    with pytest.raises(AssertionError):
        readback.check("")
    return readback


def plant(database: Path, statement: str) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        assert connection.execute(statement).rowcount > 0


def test_a_store_in_which_nothing_is_wrong(surface: Surface, ledger: Ledger) -> None:
    readback = Readback(surface.client, ledger)
    readback.check("")
    readback.check_all("")
    assert len(readback.positions) == len(ledger.acknowledged) > 30


def test_an_acknowledged_event_that_is_lost_is_missing(surface: Surface, ledger: Ledger, database: Path) -> None:
    last = max(ledger.acknowledged, key=lambda ref: ledger.acknowledged[ref])
    plant(database, f"DELETE FROM events WHERE event_key = {LAST_EVENT}")
    assert found(surface, ledger).findings.missing == [last]


def test_a_lost_event_in_the_middle_leaves_a_gap(surface: Surface, ledger: Ledger, database: Path) -> None:
    plant(database, f"DELETE FROM events WHERE event_key = {LAST_EVENT} - 5")
    assert found(surface, ledger).findings.gaps


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM turns WHERE turn_key = (SELECT max(turn_key) FROM turns)",
        "DELETE FROM sessions WHERE session_key = (SELECT max(session_key) FROM sessions)",
        "UPDATE sessions SET version = version - 1 WHERE session_key = (SELECT max(session_key) FROM sessions)",
        f"DELETE FROM events WHERE event_key = {LAST_EVENT}",
    ],
)
def test_a_session_that_is_not_what_its_events_make_is_torn(
    statement: str, surface: Surface, ledger: Ledger, database: Path
) -> None:
    Readback(surface.client, ledger).check("")
    plant(database, statement)
    assert len(found(surface, ledger).findings.torn) == 1


def test_a_session_of_an_event_that_is_not_there_is_torn(surface: Surface, ledger: Ledger, database: Path) -> None:
    body = Traffic(random.Random(3)).next(OTHER_SESSION)
    assert surface.post(body).status_code == 201
    plant(database, f"DELETE FROM events WHERE event_key = {LAST_EVENT}")
    readback = Readback(surface.client, ledger)
    with pytest.raises(AssertionError):
        readback.check("", pending=[body])
    assert readback.findings.torn == [body["payload"]["inputs"]["session_id"]]


def test_a_capture_that_is_stored_again_is_doubled(surface: Surface, ledger: Ledger, database: Path) -> None:
    [body, *_] = ledger.sent.values()
    plant(database, "DELETE FROM event_keys")
    assert surface.post(body).status_code == 201
    assert found(surface, ledger).findings.doubled == [body["runId"]]


def test_an_event_that_is_not_what_was_sent_is_altered(surface: Surface, ledger: Ledger) -> None:
    [ref, *_] = ledger.acknowledged
    ledger.sent[ref]["payload"]["confidence"] = 0.5
    assert found(surface, ledger).findings.altered == [ref]


def test_a_capture_that_was_acknowledged_with_two_positions_is_missing_at_one(surface: Surface, ledger: Ledger) -> None:
    [ref, *_] = ledger.acknowledged
    ledger.was_answered({"executionRef": ref, "position": 0, "status": "duplicate"}, again=False)
    assert found(surface, ledger).findings.missing == [ref]
