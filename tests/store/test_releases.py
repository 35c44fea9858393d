"""Databases of earlier releases: opened by this one, they say what they said; later ones are refused.

``releases/X.Y.Z.db`` is what that release wrote, ``X.Y.Z.json`` what it answered (releases/write_database.py).
"""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.core.canonical import canonical
from store.engines.schema import SCHEMA_VERSION
from store.engines.sqlite import SqliteStore
from store.urls import open_store
from tests.store.availability import refused, unavailable
from tests.store.postgres_server import name_in, server
from tests.store.surface import Surface, envelope, payload, turn, turn_id

RELEASES = Path(__file__).parent / "releases"
NAMES = sorted(path.stem for path in RELEASES.glob("*.json"))
LARGEST_FILE = 200_000


class Opened:
    """A copy of a release's database behind this release's surface, and what the release said of it."""

    def __init__(self, name: str, folder: Path) -> None:
        path = folder / "store.db"
        shutil.copy(RELEASES / f"{name}.db", path)
        path.chmod(0o640)
        self.said = json.loads((RELEASES / f"{name}.json").read_bytes())
        self.surface = Surface(open_store(f"sqlite:///{path}"))

    def bodies(self) -> list[dict[str, Any]]:
        return [{name: value for name, value in event.items() if name != "position"} for event in self.said["events"]]


@pytest.fixture(params=NAMES)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    found = Opened(request.param, tmp_path)
    yield found
    found.surface.close()


def test_there_is_a_small_closed_database_of_each_release() -> None:
    assert "0.1.0" in NAMES
    for name in NAMES:
        assert (RELEASES / f"{name}.db").stat().st_size < LARGEST_FILE
        assert not list(RELEASES.glob(f"{name}.db-*"))


def test_every_event_has_its_canonical_form(opened: Opened) -> None:
    found = opened.surface.events()
    assert [canonical(event) for event in found] == [canonical(event) for event in opened.said["events"]]
    for event in opened.said["events"][::7]:
        # Run ids may hold a slash; the surface's helper leaves them as they are.
        if "/" not in event["runId"]:
            assert canonical(opened.surface.event(event["runId"])) == canonical(event)


def test_every_turn_has_its_record(opened: Opened) -> None:
    assert len(opened.said["turns"]) > 20
    for session, records in opened.said["turns"].items():
        found = opened.surface.turns(session, limit=1000)
        assert [canonical(record) for record in found] == [canonical(record) for record in records]


def test_every_event_sent_again_is_the_duplicate_that_it_was(opened: Opened) -> None:
    receipts = [opened.surface.post(body).json() for body in opened.bodies()]
    assert receipts == opened.said["duplicates"]
    assert len(opened.surface.events()) == len(receipts)


def test_every_callers_key_is_still_bound(opened: Opened) -> None:
    bodies = {body["runId"]: body for body in opened.bodies()}
    assert len(opened.said["keys"]) > 3
    for key, ref in opened.said["keys"].items():
        assert opened.surface.post(bodies[ref], key=key).status_code == 200
        assert opened.surface.post(envelope(payload(turn(1, "another"))), key=key).status_code == 409


FIRST_USES: list[Callable[[Surface], Any]] = [
    lambda surface: surface.client.get("/health"),
    lambda surface: surface.post(envelope(payload(turn(1, "first")))),
    lambda surface: surface.client.get("/v1/sessions"),
    lambda surface: surface.client.delete(f"/v1/turns/{turn_id(1)}"),
]


@pytest.mark.parametrize("first", FIRST_USES, ids=range(len(FIRST_USES)))
def test_any_first_use_brings_the_tables_up_to_date_and_appends_go_on(
    first: Callable[[Surface], Any], opened: Opened
) -> None:
    assert first(opened.surface).status_code < 300
    last = opened.surface.events()[-1]["position"]
    assert opened.surface.capture(payload(turn(1, "new"), session=turn_id(999)))["position"] > last
    opened.surface.store.close()
    assert opened.surface.session(turn_id(999))["turn_count"] == 1


def lists(surface: Surface) -> list[Any]:
    """What 0.1.0 had no lists for."""
    queries: list[dict[str, Any]] = [
        {}, {"user_id": "anna"}, {"user_id": "bert"}, {"agent_id": "agent of anna"}, {"tag": "a"}, {"tag": "parcels"},
        {"q": "parcel"}, {"q": "Zu\u0308rich"}, {"q": "\u5b8c\u6210 \U0001f680"}, {"q": "ok"},
        {"from": "2026-03-02T09:00:00Z", "limit": 3}, {"conversation_id": "b7a1e0d4-5c39-4e82-8f16-2d7c9b0a4e13"},
    ]  # fmt: skip
    sessions = [surface.sessions(**query) for query in queries]
    events = [surface.events(agent_id="another-agent"), surface.events(decision_type="conversation_capture")]
    stats = surface.get("/v1/stats")
    turns = [surface.turns(row["session_id"], limit=1000) for row in sessions[0]]
    everything = [sessions, events, surface.events(), turns, {**stats, "bytes": 0}]
    return [canonical(part) for part in everything]


def test_an_old_database_says_what_one_says_that_got_the_same_events_today(opened: Opened, tmp_path: Path) -> None:
    today = Surface(open_store(f"sqlite:///{tmp_path}/today.db"))
    for body in opened.bodies():
        assert today.post(body).status_code == 201
    assert lists(opened.surface) == lists(today)
    for act in (
        lambda surface: surface.erase("user", "anna"),
        lambda surface: surface.erase("turn", turn_id(2)),
        lambda surface: surface.erase("session", "5e550000-0000-4000-8000-000000000064"),
    ):
        receipts = [act(surface) for surface in (opened.surface, today)]
        counted = [[receipt[name] for name in ("sessions", "turns", "events", "position")] for receipt in receipts]
        assert counted[0] == counted[1]
        assert lists(opened.surface) == lists(today)
    for surface in (opened.surface, today):
        for body in opened.bodies():
            assert surface.post(body).status_code == 200
        surface.capture(payload(turn(1), turn(2), turn(3, "grown"), session="5e550000-0000-4000-8000-000000000001"))
    assert lists(opened.surface) == lists(today)
    today.close()


def test_a_file_of_a_later_release_is_503_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = SqliteStore(path)
    store.ping()
    store.close()
    other = sqlite3.connect(path)
    other.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    other.close()
    before = path.read_bytes()
    surface = Surface(SqliteStore(path))
    later = f"the database has schema version {SCHEMA_VERSION + 1}, this release knows {SCHEMA_VERSION}"
    unavailable(surface, f"{later}: use the newer release")
    surface.close()
    assert path.read_bytes() == before


def test_a_postgresql_database_of_a_later_release_is_503_and_left_alone() -> None:
    with server().database() as url:
        first = open_store(url)
        first.ping()
        first.close()
        with server().connect(name_in(url)) as connection:
            connection.execute("UPDATE alembic_version SET version_num = %s", (f"{SCHEMA_VERSION + 1:04}",))
            surface = Surface(open_store(url))
            later = f"the database has schema version {SCHEMA_VERSION + 1}, this release knows {SCHEMA_VERSION}"
            for answer in (
                surface.post(envelope(payload(turn(1)))),
                surface.client.get("/health"),
                surface.client.get("/v1/sessions"),
            ):
                refused(answer, f"{later}: use the newer release")
            assert connection.execute("SELECT count(*) FROM events").fetchone() == (0,)
            surface.close()
