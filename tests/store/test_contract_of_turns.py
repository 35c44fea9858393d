"""A turn whose latest revision keeps another major of the published contract says which (CONTRACT 6), and keeps saying
it through erasures, copies, backups and migrations; readers refuse what is newer.
"""

import functools
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.core.contract_version import refuse_newer
from agent.errors import NewerContract
from agent.ruvector.models import TurnRecord
from store.engines.schema import DEFAULT_TENANT_KEY, SCHEMA_VERSION, event_key
from store.upkeep.verify import Finding, verify
from store.urls import open_store
from tests.store.backups import copied, is_clean, restored
from tests.store.planted import ENGINES, SQLITE, Raw, planted
from tests.store.postgres_server import name_in, server
from tests.store.surface import OTHER_CONVERSATION, SESSION, Surface, payload, turn, turn_id

OTHER_SESSION = "7a7a7a7a-0000-4000-8000-00000000000a"
NEWER = "2.0.0"


def versions(surface: Surface, session: str = SESSION, **query: Any) -> list[str | None]:
    """What each turn's record says, in the order of ``seq``; None where it has no such member."""
    return [record.get("agent_version") for record in surface.turns(session, **query)]


@contextmanager
def database(engine: str, folder: Path) -> Iterator[str]:
    """The URL of a database that nobody else has."""
    if engine == SQLITE:
        yield f"sqlite:///{folder}/store.db"
        return
    with server().database() as url:
        yield url


@contextmanager
def opened(url: str) -> Iterator[Surface]:
    with closing(Surface(open_store(url))) as surface:
        yield surface


def is_verified(surface: Surface) -> bool:
    return verify(surface.store, print).findings == 0


@pytest.mark.parametrize("version", [NEWER, "2.1.3", "17.0.0", "0.9.0", "123456789.0.0"])
def test_a_turn_of_another_major_says_which_and_no_other_turn_does(surface: Surface, version: str) -> None:
    surface.capture(payload(turn(1)))
    surface.capture(payload(turn(2), turn(3)), agent_version=version)
    surface.capture(payload(turn(4)))
    assert versions(surface) == [None, version, version, None]
    assert surface.turns(last=2)[0]["agent_version"] == version


@pytest.mark.parametrize("version", ["2", "2.0", "v2.0.0", "2.0.0-rc.1", "2.0.0+SECRET", " 2.0.0", 2, 2.0, 2.5])
def test_of_a_version_in_another_spelling_the_major_alone_is_said(surface: Surface, version: Any) -> None:
    surface.capture(payload(turn(1)), agent_version=version)
    assert versions(surface) == ["2.0.0"]


@pytest.mark.parametrize(
    "version",
    [
        None, "1.0.0", "1.9.12", "01.2.3", "1", "v1", "1.0.0-rc.1", 1, "", "two", "3fa9c1d", "\uff12.0.0", True,
        ["2.0.0"], {},
    ],
)  # fmt: skip
def test_of_our_own_major_and_of_no_version_nothing_is_said(surface: Surface, version: Any) -> None:
    surface.capture(payload(turn(1)), agent_version=version)
    assert "agent_version" not in surface.turns()[0]


def test_the_latest_revision_of_a_turn_decides(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2), turn(3, "same")))
    surface.capture(payload(turn(1, "newer"), turn(3, "same"), note=1), agent_version=NEWER)
    assert versions(surface) == [NEWER, None, None]
    surface.capture(payload(turn(1, "again ours"), turn(2, "newer"), note=2), agent_version="1.2.0")
    assert versions(surface) == [None, None, None]
    surface.capture(payload(turn(2, "newest"), note=3), agent_version="3.0.0")
    assert versions(surface) == [None, "3.0.0", None]
    assert versions(surface, changed_after=3) == ["3.0.0"]


def test_a_member_of_this_name_in_a_turn_stays_in_its_event(surface: Surface) -> None:
    sent = [turn(1, agent_version="9.9.9"), turn(2, agent_version={"any": "thing"})]
    ours, newer = payload(*sent), payload(*sent, session=OTHER_SESSION)
    surface.capture(ours)
    receipt = surface.capture(newer, agent_version=NEWER)
    assert versions(surface) == [None, None]
    assert versions(surface, OTHER_SESSION) == [NEWER, NEWER]
    assert surface.event(receipt["executionRef"])["payload"]["inputs"] == newer
    assert surface.capture(payload(*sent, note=1))["turns"]["known"] == 2


def test_a_large_event_says_it_too(surface: Surface) -> None:
    surface.capture(payload(*(turn(number, f"{number} " * 9000) for number in range(1, 40))), agent_version=NEWER)
    assert set(versions(surface)) == {NEWER}


def test_what_a_person_is_handed_over_says_it(surface: Surface) -> None:
    surface.capture(payload(turn(1), context={"user_id": "anna"}), agent_version=NEWER)
    (handed,) = json.loads(surface.client.get("/v1/users/anna/export").content)["turns"]
    assert handed == {"session_id": SESSION, **surface.turns()[0]}
    assert handed["agent_version"] == NEWER


@pytest.mark.parametrize("version", [NEWER, "12345.0.0"])
@pytest.mark.parametrize(
    ("kind", "name", "erased"),
    [("turn", turn_id(1), [True, False]), ("session", SESSION, [True, True]), ("user", "anna", [True, True])],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_skeletons_of_an_erasure_say_it(
    engine: str, kind: str, name: str, erased: list[bool], version: str, tmp_path: Path
) -> None:
    body = payload(turn(1), turn(2), context={"user_id": "anna"})
    with database(engine, tmp_path) as url, opened(url) as surface:
        receipt = surface.capture(body, agent_version=version)
        surface.erase(kind, name)
        assert [record["erased"] for record in surface.turns()] == erased
        assert versions(surface) == [version, version]
        assert surface.event(receipt["executionRef"])["payload"]["agent_version"] == version
        assert surface.capture(body, agent_version=version)["status"] == "duplicate"
        assert is_verified(surface)


@pytest.mark.parametrize("version", ["2.0.0+SECRET", 2])
@pytest.mark.parametrize("engine", ENGINES)
def test_of_a_version_in_another_spelling_an_erasure_leaves_the_major(
    engine: str, version: Any, tmp_path: Path
) -> None:
    """What else it says may be anything."""
    with database(engine, tmp_path) as url, opened(url) as surface:
        receipt = surface.capture(payload(turn(1)), agent_version=version)
        surface.erase("session", SESSION)
        assert versions(surface) == ["2.0.0"]
        assert surface.event(receipt["executionRef"])["payload"]["agent_version"] == "2.0.0"
        assert is_verified(surface)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_event_that_makes_no_turns_is_of_no_interest(engine: str, tmp_path: Path) -> None:
    with database(engine, tmp_path) as url, opened(url) as surface:
        surface.capture(payload(turn(1), note=1), agent_version=NEWER, inputs=None)
        surface.capture(payload(turn(1), note=2), agent_version=NEWER, decision_type="plan", agent_id="planner")
        assert surface.sessions() == []
        surface.capture(payload(turn(1)), agent_version=NEWER)
        assert versions(surface) == [NEWER]
        with surface.store.engine.reading() as connection:
            rows = connection.execute("SELECT agent_version FROM events ORDER BY event_key").fetchall()
        assert rows == [(None,), (None,), (NEWER.encode(),)]
        assert is_verified(surface)


def test_a_store_that_is_filled_from_the_feed_says_what_its_source_says(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2)))
    surface.capture(payload(turn(2, "revised"), turn(3), conversation=OTHER_CONVERSATION), agent_version=NEWER)
    with opened("sqlite:///:memory:") as copy:
        for event in surface.get("/events/decisions", limit=1000)["events"]:
            assert copy.post(event).status_code == 201
        assert copy.turns() == surface.turns()
        assert versions(copy) == [None, NEWER, NEWER]


def test_a_backup_that_is_put_back_says_it(tmp_path: Path) -> None:
    live = tmp_path / "live.db"
    with opened(f"sqlite:///{live}") as surface:
        surface.capture(payload(turn(1)))
        surface.capture(payload(turn(2)), agent_version=NEWER)
    restored(copied(live, tmp_path / "copy.db"), live)
    assert is_clean(live)
    with opened(f"sqlite:///{live}") as surface:
        assert versions(surface) == [None, NEWER]


def test_a_reader_refuses_what_is_newer_by_type() -> None:
    with opened("sqlite:///:memory:") as surface:
        surface.capture(payload(turn(1)))
        surface.capture(payload(turn(2)), agent_version=NEWER)
        ours, newer = (TurnRecord.model_validate(record) for record in surface.turns())
    assert (ours.agent_version, newer.agent_version) == (None, NEWER)
    refuse_newer(ours.agent_version)
    with pytest.raises(NewerContract) as refused:
        refuse_newer(newer.agent_version)
    assert refused.value.major == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_that_says_another_version_than_its_event_is_found(engine: str, tmp_path: Path) -> None:
    with planted(engine, tmp_path) as database:
        position, name = database.event(100)
        key = event_key(DEFAULT_TENANT_KEY, position)
        database.raw("UPDATE events SET agent_version = ? WHERE event_key = ?", NEWER.encode(), key)
        _, found = database.verify()
    assert found == [
        Finding("wrong_event", name, "its row says something else than its body: agent_version"),
    ]


# Databases of before


@contextmanager
def database_of_before(engine: str, folder: Path) -> Iterator[tuple[str, Raw]]:
    """The URL of a filled database as it was before the column, and what runs statements on it."""
    with database(engine, folder) as url:
        with opened(url) as surface:
            fill(surface)
        if engine == SQLITE:
            with closing(sqlite3.connect(folder / "store.db", isolation_level=None)) as raw:
                older(raw.execute)
                raw.execute("PRAGMA user_version = 2")
                yield url, lambda sql, *values: raw.execute(sql, values).fetchall()
            return
        with server().connect(name_in(url)) as connection:
            older(connection.execute)
            yield url, functools.partial(on_postgresql, connection)


def on_postgresql(connection: Any, sql: str, *values: Any) -> list[Any]:
    rows = connection.execute(sql.replace("?", "%s"), values or None)
    return list(rows.fetchall()) if rows.description else []


def older(execute: Callable[[str], object]) -> None:
    execute("ALTER TABLE events DROP COLUMN agent_version")
    execute("UPDATE alembic_version SET version_num = '0002'")


def fill(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2)))
    surface.capture(payload(turn(2, "newer"), turn(3)), agent_version=NEWER)
    surface.capture(payload(turn(1)), agent_version=NEWER, inputs=None)
    surface.capture(payload(turn(4)), agent_version=None)
    for number in range(5, 260):
        surface.capture(payload(turn(number)), agent_version="0.1.0" if number == 259 else "1.0.0")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_database_of_before_says_it_of_what_it_has(engine: str, tmp_path: Path) -> None:
    with database_of_before(engine, tmp_path) as (url, raw):
        with opened(url) as surface:
            found = versions(surface, limit=1000)
            assert found == [None, NEWER, NEWER, None, *[None] * 254, "0.1.0"]
            surface.capture(payload(turn(300)), agent_version="4.0.0")
            assert versions(surface, last=1) == ["4.0.0"]
            assert is_verified(surface)
        assert raw("SELECT version_num FROM alembic_version") == [(f"{SCHEMA_VERSION:04}",)]
        assert raw("SELECT count(*) FROM events WHERE agent_version IS NOT NULL") == [(3,)]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_event_that_cannot_be_read_is_left_as_it_is(engine: str, tmp_path: Path) -> None:
    with database_of_before(engine, tmp_path) as (url, raw):
        raw("UPDATE events SET body = ? WHERE event_key = ?", b"\x00{", event_key(DEFAULT_TENANT_KEY, 1))
        with opened(url) as surface:
            assert versions(surface, after_seq=2, limit=1) == [NEWER]
            found: list[Finding] = []
            verify(surface.store, found.append)
    assert found[0].kind == "damaged_event"
    assert not [finding for finding in found if "agent_version" in finding.detail]
