"""What was erased cannot be read in the database's files (CONTRACT 10a): neither as text nor as the bytes that were kept.

PostgreSQL: the files of its tables. Its write-ahead log is recycled by the server, which docs/erasure.md speaks of.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from store.urls import open_store
from tests.store.postgres_server import name_in, server
from tests.store.surface import SESSION, Surface, payload, turn, turn_id

SLICE = 48
OTHER_SESSION = "7a7a7a7a-0000-4000-8000-00000000000a"
ERASURES = [("session", SESSION), ("turn", turn_id(1)), ("user", "anna-4711")]
source = random.Random(1)
# What is kept as it is sent, what becomes shorter, and what needs more than one chunk.
CONTENTS = {
    "short": f"secret {source.randbytes(60).hex()}",
    "compressed": " ".join(source.choice(["parcel", "Bern", "lost", "found"]) for _ in range(900)),
    "several chunks": source.randbytes(60_000).hex(),
}


class Files:
    """A store and the files that its rows lie in."""

    def __init__(self, surface: Surface, folder: Path, database: str | None) -> None:
        self.surface = surface
        self._folder = folder
        self.database = database

    def read(self) -> bytes:
        if self.database is None:
            return b"".join(path.read_bytes() for path in sorted(self._folder.glob("store.db*")))
        with server().connect(self.database) as connection:
            connection.execute("CHECKPOINT")
            row = connection.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
        assert row is not None
        return b"".join(path.read_bytes() for path in sorted((self._folder / "base" / f"{row[0]}").iterdir()))

    def bodies(self) -> list[bytes]:
        """The kept bodies of all events, as they lie in the database."""
        with self.surface.store.engine.reading() as connection:
            return [bytes(body) for (body,) in connection.execute("SELECT body FROM events")]


@contextmanager
def files(engine: str, folder: Path) -> Iterator[Files]:
    if engine == "sqlite":
        surface = Surface(open_store(f"sqlite:///{folder}/store.db"))
        yield Files(surface, folder, None)
        surface.close()
        return
    with server().database() as url:
        surface = Surface(open_store(url))
        yield Files(surface, server().folder, name_in(url))
        surface.close()


def slices(data: bytes) -> Iterator[bytes]:
    """Pieces of the data, such that no page can hold much of it without holding one."""
    return (data[start : start + SLICE] for start in range(0, max(1, len(data) - SLICE), SLICE))


def found(kept: bytes, raw: bytes) -> int:
    return sum(piece in raw for piece in slices(kept))


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
@pytest.mark.parametrize(("kind", "name"), ERASURES)
@pytest.mark.parametrize("content", CONTENTS)
def test_no_piece_of_what_was_erased_is_left_in_the_files(
    engine: str, kind: str, name: str, content: str, tmp_path: Path
) -> None:
    text = CONTENTS[content]
    with files(engine, tmp_path) as opened:
        surface = opened.surface
        sent: dict[str, Any] = {"context": {"user_id": "anna-4711", "tags": ["tag-4711"]}}
        surface.capture(payload(turn(1, text, metadata={"agent": "agent-4711"}), **sent))
        kept = opened.bodies()
        surface.capture(payload(turn(1, text), turn(2, "stays"), **sent, note="note-4711"))
        surface.capture(payload(turn(3, "somebody's own words"), session=OTHER_SESSION))
        assert surface.sessions(q=text[:20].split()[0])
        before = opened.read()
        assert all(found(body, before) for body in kept)
        receipt = surface.erase(kind, name)
        assert receipt["files"] == "rewritten"
        after = opened.read()
        assert [found(body, after) for body in kept] == [0] * len(kept)
        assert found(text.encode(), after) == 0
        assert b"agent-4711" not in after
        if kind != "turn":
            assert b"anna-4711" not in after
            assert b"tag-4711" not in after
            assert b"note-4711" not in after
        assert b"somebody's own words" in after


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_a_revised_body_goes_with_its_turn_and_so_do_other_peoples_copies(engine: str, tmp_path: Path) -> None:
    with files(engine, tmp_path) as opened:
        surface = opened.surface
        for number in range(1, 4):
            surface.capture(payload(turn(1, f"revision-4711-{number}"), turn(2, "stays"), context={"user_id": f"{number}"}))
        surface.capture(payload(turn(1, "revision-4711-9"), turn(2)), constraints_applied=["content_omitted"])
        surface.erase("turn", turn_id(1))
        assert b"revision-4711" not in opened.read()
        assert b"stays" in opened.read()


def test_a_reader_that_keeps_the_old_pages_is_told_of(tmp_path: Path) -> None:
    """SQLite cannot empty its log below a reader: the receipt says so, and a later erasure or scrub finishes it."""
    with files("sqlite", tmp_path) as opened:
        surface = opened.surface
        surface.capture(payload(turn(1, "secret-4711"), turn(2, "secret-4712")))
        with surface.store.engine.reading() as connection:
            connection.execute("SELECT count(*) FROM turns").fetchone()
            assert surface.erase("turn", turn_id(1))["files"] == "pending"
        surface.store.scrub()
        assert b"secret-4711" not in opened.read()


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_a_file_that_is_written_anew_says_what_it_said(engine: str, tmp_path: Path) -> None:
    with files(engine, tmp_path) as opened:
        surface = opened.surface
        surface.capture(payload(turn(1, "a"), turn(2, "b"), context={"user_id": "anna"}))
        surface.erase("turn", turn_id(1))
        before = (surface.events(), surface.sessions(), surface.turns(), surface.get("/v1/audit"))
        surface.store.scrub()
        assert (surface.events(), surface.sessions(), surface.turns(), surface.get("/v1/audit")) == before
        assert surface.capture(payload(turn(3)))["position"] == 3


def test_what_the_planner_of_postgresql_remembers_of_the_rows_goes_too(tmp_path: Path) -> None:
    """``pg_statistic`` holds values of columns; autovacuum fills it by itself as rows come."""
    with files("postgresql", tmp_path) as opened, server().connect(opened.database or "") as connection:
        surface = opened.surface
        for number in range(60):
            context = {"user_id": f"user-4711-{number}", "tags": [f"tag-4711-{number}"], "agent_id": f"bot-4711-{number}"}
            sent = payload(turn(1, f"preview-4711-{number}"), session=turn_id(5000 + number), context=context)
            surface.capture({**sent, "native_session_id": f"native-4711-{number}"})
        connection.execute("ANALYZE")
        for number in range(60):
            surface.erase("session", turn_id(5000 + number))
        raw = opened.read()
        assert [word for word in (b"user", b"tag", b"bot", b"preview", b"native") if word + b"-4711-" in raw] == []
