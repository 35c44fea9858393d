"""``store.upkeep.verify`` on whole databases and on rows of the log that are lost: each is found and named, causes
first."""

import sqlite3
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from store.engines.schema import DEFAULT_TENANT_KEY, event_key
from store.upkeep.verify import Finding, verify
from store.urls import open_store
from tests.store.engines import IN_PROCESS, opened
from tests.store.filled import Filling, fill, session
from tests.store.planted import ENGINES, SQLITE, Planted, planted
from tests.store.surface import payload, turn, turn_id


@pytest.fixture(params=ENGINES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Planted]:
    with planted(request.param, tmp_path) as found:
        yield found


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Planted]:
    with planted(SQLITE, tmp_path) as found:
        yield found


@pytest.mark.parametrize("engine", IN_PROCESS)
def test_a_database_with_everything_in_it_is_clean(engine: str, tmp_path: Path) -> None:
    with opened(engine, tmp_path) as surface:
        tenant = f"tenant {uuid.uuid4()}"
        fill(surface.store, tenant)
        found: list[Finding] = []
        checked = verify(surface.store, found.append)
    # Tenants of other tests are in the same database on PostgreSQL, some damaged on purpose.
    others = [finding for finding in found if "tenant tenant" in finding.subject and tenant not in finding.subject]
    assert [finding for finding in found if finding not in others] == []
    assert (checked.events > 100, checked.turns > 200, checked.sessions > 40) == (True, True, True)
    assert (checked.erased > 5, checked.without_hash > 5) == (True, True)


def test_all_is_counted(database: Planted) -> None:
    checked, found = database.verify()
    assert found == []
    assert checked.events == database.one("SELECT count(*) FROM events") > 40
    assert checked.turns == database.one("SELECT count(*) FROM turns") > 50
    assert checked.sessions == database.one("SELECT count(*) FROM sessions") > 10
    assert checked.erased == database.one("SELECT count(*) FROM events WHERE erased > 0") > 6
    assert checked.without_hash > 10


def test_an_empty_database_is_clean() -> None:
    store = open_store("sqlite:///:memory:")
    assert verify(store, print).findings == 0
    store.close()


def test_a_lost_event_is_named_by_its_position_before_what_follows(database: Planted) -> None:
    position, _ = database.event(201)
    database.raw("DELETE FROM events WHERE event_key = ?", event_key(DEFAULT_TENANT_KEY, position))
    _, found = database.verify()
    assert (found[0].kind, found[0].subject) == ("lost_position", f"position {position}")
    assert all(session(201) in finding.subject for finding in found[1:])


def test_the_last_event_of_all_is_missed_too(database: Planted) -> None:
    filling = Filling(database.store)
    position = filling.post({"type": "x", "runId": "last", "timestamp": "2026-01-01T00:00:00Z", "payload": {}})[
        "position"
    ]
    database.raw("DELETE FROM events WHERE event_key = ?", event_key(DEFAULT_TENANT_KEY, position))
    _, found = database.verify()
    assert [(finding.kind, finding.subject) for finding in found] == [("lost_position", f"position {position}")]


def test_an_event_of_no_session_is_missed_and_nothing_follows(database: Planted) -> None:
    key = database.one("SELECT event_key FROM events WHERE type = ? AND tenant = ?", b"plan_approved", 1)
    database.raw("DELETE FROM events WHERE event_key = ?", key)
    _, found = database.verify()
    named = [(finding.kind, finding.subject) for finding in found]
    assert named == [("lost_position", f"position {key - event_key(DEFAULT_TENANT_KEY, 0)}")]


def test_a_lost_erasure_is_named_by_its_position(database: Planted) -> None:
    key = database.one("SELECT min(erasure_key) FROM erasures WHERE tenant = ?", DEFAULT_TENANT_KEY)
    database.raw("DELETE FROM erasures WHERE erasure_key = ?", key)
    _, found = database.verify()
    assert found[0].subject == f"position {key - event_key(DEFAULT_TENANT_KEY, 0)}"


def test_rows_of_another_tenant_are_named_with_it(database: Planted) -> None:
    key = database.one("SELECT max(event_key) FROM events WHERE type = ?", b"x")
    database.raw("DELETE FROM events WHERE event_key = ?", key)
    _, found = database.verify()
    assert [finding.subject for finding in found] == [f"tenant acme, position {key - event_key(2, 0)}"]


@pytest.mark.parametrize("by", ["execution_ref", "payload"])
def test_a_lost_key_is_found_by_the_event_that_it_found(by: str, database: Planted) -> None:
    position, name = database.event(201)
    key = event_key(DEFAULT_TENANT_KEY, position)
    keys = database.raw("SELECT key FROM event_keys WHERE event_key = ? ORDER BY key", key)
    assert len(keys) == 2
    found = []
    for (digest,) in keys:
        database.raw("DELETE FROM event_keys WHERE key = ?", digest)
        found += [finding for finding in database.verify()[1] if finding.detail == f"it is not found by its {by}"]
        database.raw("INSERT INTO event_keys (key, tenant, event_key) VALUES (?, 1, ?)", digest, key)
    assert [(finding.kind, finding.subject) for finding in found] == [("lost_key", name)]


def test_a_key_that_leads_elsewhere_is_found(database: Planted) -> None:
    position, name = database.event(201)
    erasure = database.one("SELECT min(erasure_key) FROM erasures")
    key = event_key(DEFAULT_TENANT_KEY, position)
    database.raw("UPDATE event_keys SET event_key = ? WHERE event_key = ?", erasure, key)
    _, found = database.verify()
    assert [finding.subject for finding in found][:2] == [name, name]
    assert {finding.kind for finding in found} == {"wrong_key"}
    assert len(found) == 4


def test_damaged_pages_are_told_and_all_else_is_looked_at(file: Planted) -> None:
    file.store.close()
    path = Path(file.url.removeprefix("sqlite:///"))
    root = file.one("SELECT rootpage FROM sqlite_schema WHERE name = 'events_by_instant'")
    page = file.one("PRAGMA page_size")
    leaf = _a_leaf_of(path, page, "events")
    file.raw("PRAGMA wal_checkpoint(TRUNCATE)")
    with path.open("r+b") as database:
        for number in (root, leaf):
            database.seek((number - 1) * page)
            database.write(b"\xff" * 16)
    checked, found = file.verify()
    assert found[0].kind == "damaged_file"
    assert {"unreadable"} <= {finding.kind for finding in found}
    assert checked.events > 35


@pytest.mark.parametrize("table", ["sessions", "turns", "event_keys", "labels", "tenants"])
def test_a_table_that_cannot_be_read_is_told_and_what_does_not_need_it_is_looked_at(table: str, file: Planted) -> None:
    file.store.close()
    path = Path(file.url.removeprefix("sqlite:///"))
    root, page = file.one("SELECT rootpage FROM sqlite_schema WHERE name = ?", table), file.one("PRAGMA page_size")
    file.raw("PRAGMA wal_checkpoint(TRUNCATE)")
    with path.open("r+b") as database:
        database.seek((root - 1) * page)
        database.write(b"\xff" * 16)
    checked, found = file.verify()
    assert found[0].kind == "damaged_file"
    assert "unreadable" in [finding.kind for finding in found]
    # Without labels every event can be read; without sessions or turns, those of no session.
    expected = {"labels": file.one("SELECT count(*) FROM events"), "sessions": 4, "turns": 4}
    assert checked.events >= expected.get(table, 0)


def _a_leaf_of(path: Path, page: int, table: str) -> int:
    """The number of a page that holds rows of ``table``, by the file format (sqlite.org/fileformat2.html, 1.6)."""
    with closing(sqlite3.connect(path)) as raw:
        (root,) = raw.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    content = path.read_bytes()[(root - 1) * page : root * page]
    assert content[0] == 5, "the root of a table of more than one page"
    first = int.from_bytes(content[12:14], "big")
    return int.from_bytes(content[first : first + 4], "big")


def test_what_is_written_meanwhile_is_no_finding(database: Planted) -> None:
    filling = Filling(database.store, "busy")
    done = threading.Event()

    def write() -> None:
        try:
            for number in range(1, 25):
                filling.capture(payload(*[turn(n) for n in range(1, number % 7 + 2)], session=session(number % 3)))
                if number % 10 == 0:
                    filling.erase("turn", turn_id(number % 5 + 1))
                filling.post({"type": "x", "runId": f"r{number}", "timestamp": "2026-01-01T00:00:00Z", "payload": {}})
        finally:
            done.set()

    writer = threading.Thread(target=write)
    writer.start()
    rounds: list[list[Finding]] = []
    while not done.is_set():
        rounds.append(database.verify()[1])
    writer.join()
    rounds.append(database.verify()[1])
    assert [found for found in rounds if found] == []


def test_more_rows_than_a_batch_are_all_looked_at() -> None:
    store = open_store("sqlite:///:memory:")
    filling = Filling(store)
    for number in range(1100):
        filling.post({"type": "x", "runId": f"r{number}", "timestamp": "2026-01-01T00:00:00Z", "payload": {}})
    for number in range(600):
        filling.append(payload(turn(1), session=session(number)))
    filling.append(payload(*[turn(n) for n in range(1, 1200)], session=session(0)))
    found: list[Any] = []
    checked = verify(store, found.append)
    assert found == []
    assert (checked.events, checked.sessions, checked.turns) == (1701, 600, 1798)
    store.close()
