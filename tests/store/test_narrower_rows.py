"""How narrow a turn's row says that it is (CONTRACT 8): looked at by verify, and learnt by a database of before."""

import functools
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from store.engines.schema import SCHEMA_VERSION
from store.urls import open_store
from tests.store.planted import ENGINES, SQLITE, Raw
from tests.store.postgres_server import name_in, server
from tests.store.surface import SESSION, Surface, payload, turn, turn_id
from tests.store.test_narrower_turns import CONSTRAINTS, FULL, OMITTED, REDACTED, content, found_in, send


@pytest.mark.parametrize(
    ("narrowness", "sent"),
    [
        (0, [(REDACTED, "a"), (REDACTED, "a")]),
        (1, [(OMITTED, "a")]),
        (1, [(FULL, "a"), (REDACTED, "a")]),
        (1, [(REDACTED, "a"), (FULL, "a"), (OMITTED, "c")]),
        (1, [(OMITTED, "a"), (FULL, "a")]),
        (2, [(REDACTED, "a"), (OMITTED, "a")]),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_that_counts_as_fuller_or_narrower_than_its_events_is_found(
    engine: str, narrowness: int, sent: list[tuple[str, str]], tmp_path: Path
) -> None:
    with database(engine, tmp_path) as (url, raw), closing(Surface(open_store(url))) as surface:
        for place, (mode, said) in enumerate(sent):
            send(surface, mode, said, place=place)
        assert found_in(surface) == []
        raw("UPDATE turns SET narrowness = ?", narrowness)
        found = found_in(surface)
        assert [(one.kind, one.subject) for one in found] == [("wrong_turn", f"turn {turn_id(1)} of session {SESSION}")]
        assert found[0].detail.endswith(": narrowness")


@contextmanager
def database(engine: str, folder: Path) -> Iterator[tuple[str, Raw]]:
    """The URL of a database that nobody else has, and what runs statements on it."""
    if engine == SQLITE:
        path = folder / "store.db"
        made(f"sqlite:///{path}")
        with closing(sqlite3.connect(path, isolation_level=None)) as raw:
            yield f"sqlite:///{path}", lambda sql, *values: raw.execute(sql, values).fetchall()
        return
    with server().database() as url:
        made(url)
        with server().connect(name_in(url)) as connection:
            yield url, functools.partial(_on_postgresql, connection)


def made(url: str) -> None:
    with closing(open_store(url)) as store:
        store.migrate()


def _on_postgresql(connection: Any, sql: str, *values: Any) -> list[Any]:
    rows = connection.execute(sql.replace("?", "%s"), values or None)
    return list(rows.fetchall()) if rows.description else []


# Databases of before


def before(raw: Raw, engine: str) -> None:
    """As the release before left it: rows as narrow as the first event of their body."""
    raw("UPDATE turns SET narrowness = 1 WHERE seq < 3")
    raw("UPDATE alembic_version SET version_num = '0003'")
    if engine == SQLITE:
        raw("PRAGMA user_version = 3")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_database_of_before_learns_which_bodies_came_fuller(engine: str, tmp_path: Path) -> None:
    with database(engine, tmp_path) as (url, raw):
        with closing(Surface(open_store(url))) as surface:
            redacted = CONSTRAINTS[REDACTED]
            surface.capture(payload(turn(1, "a"), turn(2, "b"), turn(3, "c")), constraints_applied=redacted)
            surface.capture(payload(turn(1, "a"), turn(4, "d")))
            answered = surface.turns()
        before(raw, engine)
        with closing(Surface(open_store(url))) as surface:
            assert surface.turns() == answered
            assert raw("SELECT version_num FROM alembic_version") == [(f"{SCHEMA_VERSION:04}",)]
            assert raw("SELECT narrowness FROM turns ORDER BY turn_key") == [(0,), (1,), (1,), (0,)]
            assert found_in(surface) == []
            later = payload(turn(1, "x"), turn(2, "y"))
            counts = surface.capture(later, constraints_applied=redacted)["turns"]
            assert (counts["known"], counts["revised"]) == (1, 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_event_that_cannot_be_read_leaves_its_turns_as_they_are(engine: str, tmp_path: Path) -> None:
    with database(engine, tmp_path) as (url, raw):
        with closing(Surface(open_store(url))) as surface:
            send(surface, REDACTED, "a")
            send(surface, FULL, "a")
        raw("UPDATE events SET body = ? WHERE event_key = (SELECT max(event_key) FROM events)", b"\x00{")
        before(raw, engine)
        with closing(Surface(open_store(url))) as surface:
            assert content(surface) == "a"
            assert raw("SELECT narrowness FROM turns") == [(1,)]
            assert [found.kind for found in found_in(surface)] == ["damaged_event"]


def test_a_damaged_fuller_event_is_told_and_not_the_row_that_knows_it(tmp_path: Path) -> None:
    with database(SQLITE, tmp_path) as (url, raw), closing(Surface(open_store(url))) as surface:
        send(surface, REDACTED, "a")
        send(surface, FULL, "a")
        raw("UPDATE events SET body = ? WHERE event_key = (SELECT max(event_key) FROM events)", b"\x00{")
        assert [found.kind for found in found_in(surface)] == ["damaged_event"]
