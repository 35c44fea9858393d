"""32 writers at once and a reader who follows all along: it sees every event once, in order, and nothing is lost (H30).

SOAK_CAPTURES says how many captures the writers of one test share: 640 in the suite, 20 000 in `make soak`. Tests of
several processes write fewer.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from store.urls import open_store
from tests.cli.store.server import store_server
from tests.conftest import REPOSITORY
from tests.store.concurrent import (
    MANY,
    ONE,
    THREADS_OF_A_PROCESS,
    Placed,
    captures,
    followed,
    to_server,
    to_store,
    write,
)
from tests.store.postgres_server import server
from tests.store.surface import Surface

WRITERS = 32
CAPTURES = int(os.environ.get("SOAK_CAPTURES", "640"))
EACH = CAPTURES // WRITERS
EACH_OVER_HTTP = max(1, EACH // 10)
EACH_OF_TWO_PROCESSES = max(1, EACH // 4)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/store.db"
        return
    with server().database() as found:
        yield found


def seen_once_in_order(seen: list[Placed], acknowledged: list[Placed], count: int) -> None:
    """A reader saw positions without a gap, each once and in order, and every acknowledged event at its own."""
    assert [position for position, _ in seen] == list(range(1, count + 1))
    assert seen == sorted(acknowledged)
    assert len({ref for _, ref in seen}) == count


def sent_turns(writers: list[str], each: int, spread: str) -> dict[str, set[str]]:
    """The turns of each session that so many captures of each of these writers have."""
    turns: dict[str, set[str]] = {}
    for writer in writers:
        for body in captures(writer, each, spread):
            inputs = body["payload"]["inputs"]
            turns.setdefault(inputs["session_id"], set()).update(turn["turn_id"] for turn in inputs["turns"])
    return turns


def sessions_are_whole(surface: Surface, expected: dict[str, set[str]]) -> None:
    """Every session has the turns that were sent, each once, numbered without a gap, and its row counts them."""
    rows = {row["session_id"]: row["turn_count"] for row in surface.sessions(limit=1000)}
    assert rows == {session: len(turns) for session, turns in expected.items()}
    for session, names in expected.items():
        turns: list[tuple[int, str]] = []
        while page := surface.turns(session, limit=1000, after_seq=len(turns)):
            turns += [(turn["seq"], turn["turn_id"]) for turn in page]
        assert [seq for seq, _ in turns] == list(range(1, len(names) + 1))
        assert {name for _, name in turns} == names


def tell(what: str, url: str, count: int, began: float) -> None:
    engine = url.partition(":")[0].partition("+")[0]
    seconds = time.monotonic() - began
    print(f"\n{engine}, {what}: {count} captures in {seconds:.1f} s")


@pytest.mark.parametrize("spread", [ONE, MANY])
def test_a_reader_sees_every_event_of_32_writers_once_and_in_order(url: str, spread: str) -> None:
    surface = Surface(open_store(url))
    began = time.monotonic()
    acknowledged, reader = followed(surface.client, lambda: write(to_store(surface.store), "w", WRITERS, EACH, spread))
    tell(f"{WRITERS} writers, {spread}, followed in {reader.pages} pages", url, len(acknowledged), began)
    seen_once_in_order(reader.seen, acknowledged, WRITERS * EACH)
    sessions_are_whole(surface, sent_turns([f"w {number}" for number in range(WRITERS)], EACH, spread))
    surface.close()


@pytest.mark.slow
def test_a_reader_over_http_sees_every_event_of_32_writers_once_and_in_order(url: str, tmp_path: Path) -> None:
    with (
        store_server(tmp_path, "--workers", "2", RUVECTOR_STORE=url) as running,
        httpx.Client(base_url=running.url, timeout=60, trust_env=False) as client,
    ):
        began = time.monotonic()
        acknowledged, reader = followed(client, lambda: write(to_server(client), "w", WRITERS, EACH_OVER_HTTP, MANY))
        tell(f"{WRITERS} writers over HTTP, followed in {reader.pages} pages", url, len(acknowledged), began)
    seen_once_in_order(reader.seen, acknowledged, WRITERS * EACH_OVER_HTTP)
    surface = Surface(open_store(url))
    sessions_are_whole(surface, sent_turns([f"w {number}" for number in range(WRITERS)], EACH_OVER_HTTP, MANY))
    surface.close()


def test_all_who_open_a_new_database_at_once_may_use_it(url: str) -> None:
    """One of them makes the tables, the others wait for it and find them there."""
    stores = [open_store(url) for _ in range(4)]
    at_once = threading.Barrier(len(stores))

    def append(number: int) -> int:
        at_once.wait(timeout=60)
        return to_store(stores[number], again=False)(next(captures(f"w {number}", 1, ONE)))

    with ThreadPoolExecutor(len(stores)) as threads:
        assert sorted(threads.map(append, range(len(stores)))) == [1, 2, 3, 4]
    for store in stores:
        store.close()


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.store.concurrent", *arguments],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def printed(process: subprocess.Popen[str]) -> list[Placed]:
    """What a process prints until it ends, which it does when its input has."""
    lines = process.communicate()[0].splitlines()
    assert process.returncode == 0
    return [(int(position), ref) for position, _, ref in (line.partition(" ") for line in lines)]


@pytest.mark.slow
def test_a_third_process_sees_every_event_of_two_that_write_to_one_session(url: str) -> None:
    began = time.monotonic()
    reader = start("follow", url)
    writers = [start("write", url, name, str(EACH_OF_TWO_PROCESSES)) for name in ("one", "two")]
    acknowledged = [placed for writer in writers for placed in printed(writer)]
    seen = printed(reader)
    tell("two processes and a reader in a third", url, len(acknowledged), began)
    seen_once_in_order(seen, acknowledged, 2 * THREADS_OF_A_PROCESS * EACH_OF_TWO_PROCESSES)
    names = [f"{name} {number}" for name in ("one", "two") for number in range(THREADS_OF_A_PROCESS)]
    surface = Surface(open_store(url))
    sessions_are_whole(surface, sent_turns(names, EACH_OF_TWO_PROCESSES, ONE))
    surface.close()
