"""Writers at the same time, and writers that die: nothing acknowledged is lost, nothing is there twice (H30)."""

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from store.engines.sqlite import SqliteStore
from tests.conftest import REPOSITORY
from tests.store.surface import SESSION, Surface, envelope, payload, ref_of, turn


def everything(surface: Surface, path: str, kept: str) -> list[dict[str, Any]]:
    """All rows of a list, page by page."""
    rows: list[dict[str, Any]] = []
    while True:
        query = {"limit": 1000}
        if kept == "turns":
            page = surface.get(path, **query, after_seq=rows[-1]["seq"] if rows else 0)
            cursor = page["turns"] or None
        else:
            page = surface.get(path, **query, **({"cursor": cursor} if rows else {}))
            cursor = page["next_cursor"]
        rows += page[kept]
        if cursor is None:
            return rows


def whole(surface: Surface, acknowledged: list[str]) -> None:
    """Check the log and the session of the writers: every acknowledged capture once, positions and seq without gap."""
    events = everything(surface, "/v1/decision-events", "events")
    refs = [event["runId"] for event in events]
    assert [event["position"] for event in events] == list(range(1, len(events) + 1))
    assert len(set(refs)) == len(refs)
    assert set(acknowledged) <= set(refs)
    turns = everything(surface, f"/v1/sessions/{SESSION}/turns", "turns")
    assert [turn["seq"] for turn in turns] == list(range(1, len(turns) + 1))
    sent = {turn["turn_id"] for event in events for turn in event["payload"]["inputs"]["turns"]}
    assert {turn["turn_id"] for turn in turns} == sent
    assert len(turns) == len(sent)


def test_h30_twenty_captures_of_one_session_at_once_are_all_stored(surface: Surface) -> None:
    start = threading.Barrier(8)

    def post(number: int) -> tuple[int, int]:
        if number < 8:
            start.wait(timeout=10)
        turns = [turn(place, f"{number}", turn_id=ref_of(f"{number}:{place}")) for place in (1, 2, 3)]
        answer = surface.post(envelope(payload(*turns), execution_ref=ref_of(str(number))))
        return answer.status_code, answer.json()["position"]

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(post, range(20)))
    assert [status for status, _ in answers] == [201] * 20
    assert sorted(position for _, position in answers) == list(range(1, 21))
    whole(surface, [ref_of(str(number)) for number in range(20)])


def test_one_capture_posted_by_many_at_once_is_one_event(surface: Surface) -> None:
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda n: surface.capture(payload(turn(1)), execution_ref=f"run-{n}"), range(16)))
    assert sorted(answer["status"] for answer in answers) == ["accepted"] + ["duplicate"] * 15
    assert len({answer["eventId"] for answer in answers}) == 1


def test_a_reader_sees_whole_captures_while_others_write(on_file: Surface) -> None:
    done = threading.Event()

    def write() -> None:
        for number in range(60):
            on_file.capture(payload(turn(1, turn_id=ref_of(f"{number}a")), turn(2, turn_id=ref_of(f"{number}b"))))
        done.set()

    on_file.capture(payload(turn(1, turn_id=ref_of("a")), turn(2, turn_id=ref_of("b"))))
    with ThreadPoolExecutor(1) as threads:
        writing = threads.submit(write)
        while not done.is_set() and not writing.done():
            assert len(on_file.turns(limit=1000)) % 2 == 0
        writing.result(timeout=60)
    assert len(on_file.turns(limit=1000)) == 122


def start_writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.writer", str(path), name, str(count)]
    return subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_two_processes_write_to_one_new_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    writers = [start_writer(path, name, 40) for name in ("one", "two")]
    acknowledged = [ref for writer in writers for ref in writer.communicate(timeout=60)[0].split()]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert len(acknowledged) == 80
    surface = Surface(SqliteStore(path))
    whole(surface, acknowledged)
    surface.close()


@pytest.mark.slow
def test_a_writer_killed_in_the_middle_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    acknowledged: list[str] = []
    for round_number, lines in enumerate((1, 7, 20, 33, 50)):
        writer = start_writer(path, f"round {round_number}", 0)
        assert writer.stdout is not None
        acknowledged += [writer.stdout.readline().strip() for _ in range(lines)]
        os.kill(writer.pid, signal.SIGKILL)
        acknowledged += writer.communicate(timeout=30)[0].splitlines()
        assert writer.returncode == -signal.SIGKILL
    assert len(acknowledged) >= 111
    surface = Surface(SqliteStore(path))
    whole(surface, acknowledged)
    surface.close()


FORKING = """
import os, sys
from store.errors import ForkedDatabase
from store.engines.sqlite import SqliteStore
store = SqliteStore(sys.argv[1])
if sys.argv[2] == "after use":
    store.ping()
child = os.fork()
if child == 0:
    try:
        store.ping()
    except ForkedDatabase:
        store.close()
        os._exit(7)
    store.close()
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
store.ping()
store.close()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("when", "code"), [("before use", "0"), ("after use", "7")])
def test_a_store_may_be_used_on_both_sides_of_a_fork_only_if_it_was_not_used_before(
    when: str, code: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", FORKING, str(tmp_path / "store.db"), when]
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=30, check=True)
    assert ran.stdout.strip() == code
