"""An import that is interrupted, repeated and resumed: nothing is lost, and nothing is stored twice."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.bootstrap import new_id
from agent.cli.exit_codes import ExitCode
from tests.cli.memory.importing import Imported, chat, events, imported, lines, stored
from tests.cli.streams import PREFIX, command_line, process_environment

COUNT = 300


def ids_until(count: int) -> Callable[[], str]:
    """References for so many captures; then somebody presses Ctrl-C."""
    left = [count]

    def next_id() -> str:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return new_id()

    return next_id


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "chats.jsonl"
    # A line that cannot be read, early: it is told again only where it is read again.
    path.write_bytes(lines(chat(0), b"not json", *(chat(number) for number in range(1, COUNT))))
    return path


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Imported]:
    def run_it(*names: Path, **options: Any) -> Imported:
        return imported(tmp_path / "store.db", *names, state=tmp_path / "state", **options)

    return run_it


def states(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "state").rglob("*.json*"))


def test_ctrl_c_keeps_what_was_done_and_the_same_import_goes_on(
    run: Callable[..., Imported], file: Path, tmp_path: Path
) -> None:
    stopped = run(file, new_id=ids_until(100))
    assert stopped.code is ExitCode.INTERRUPTED
    assert "interrupted: what was done is stored" in stopped.err
    done = len(stored(tmp_path / "store.db"))
    # A few may be stored behind one that is not: those are not told, and are known the next time.
    assert 0 < len(stopped.taken) <= done <= 100
    again = run(file)
    assert (again.code, len(again.taken)) == (ExitCode.PARTLY, COUNT)
    assert sum(result["duplicate"] for result in again.taken) == done
    assert again.sum("new") == 5 * (COUNT - done)
    assert len(events(tmp_path / "store.db")) == COUNT


def test_resume_skips_what_was_done_and_counts_it(run: Callable[..., Imported], file: Path, tmp_path: Path) -> None:
    stopped = run(file, new_id=ids_until(100))
    (state,) = states(tmp_path)
    assert state.stat().st_mode & 0o777 == 0o600
    assert "Conversation" not in state.read_text()
    resumed = run(file, resume=True)
    assert resumed.code is ExitCode.PARTLY
    places = [result["place"] for result in resumed.taken]
    assert places == list(range(stopped.taken[-1]["place"] + 1, COUNT + 1))
    # The bad line was told by the first run, and still counts for the exit code.
    assert (stopped.kinds, resumed.kinds) == (["not JSON"], [])
    assert len(events(tmp_path / "store.db")) == COUNT
    assert set(stored(tmp_path / "store.db")) == {f"chats.jsonl#{place}" for place in range(COUNT + 1) if place != 1}
    # The import came to its end: there is nothing to go on from.
    assert states(tmp_path) == []
    assert len(run(file, resume=True).taken) == COUNT


def test_files_that_were_done_are_skipped_whole(run: Callable[..., Imported], tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_bytes(lines(*(chat(number) for number in range(50))))
    second.write_bytes(lines(*(chat(number) for number in range(50, 300))))
    assert run(first, second, new_id=ids_until(150)).code is ExitCode.INTERRUPTED
    resumed = run(first, second, resume=True)
    assert {result["file"] for result in resumed.taken} == {str(second)}
    assert resumed.code is ExitCode.OK
    assert len(events(tmp_path / "store.db")) == 300


@pytest.mark.parametrize("change", ["grown", "changed", "other store", "other options", "broken state"])
def test_in_any_doubt_all_is_imported_again(
    change: str, run: Callable[..., Imported], file: Path, tmp_path: Path
) -> None:
    run(file, new_id=ids_until(100))
    options: dict[str, Any] = {}
    expected = COUNT
    if change == "grown":
        file.write_bytes(file.read_bytes() + lines(chat(COUNT)))
        expected += 1
    elif change == "changed":
        data = file.read_bytes()
        file.unlink()
        file.write_bytes(data.replace(b"Friday", b"Monday"))
    elif change == "other store":
        # As a restored backup: the same place, without the last event.
        (tmp_path / "store.db").rename(tmp_path / "old.db")
        for beside in tmp_path.glob("store.db-*"):
            beside.unlink()
    elif change == "other options":
        options = {"source_name": "other"}
    else:
        (state,) = states(tmp_path)
        state.write_text(state.read_text()[:-20])
    resumed = run(file, resume=True, **options)
    assert len(resumed.taken) == expected
    assert resumed.kinds == ["not JSON"]


def test_a_home_that_takes_no_state_is_no_reason_to_stop(file: Path, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where a folder should be")
    done = imported(tmp_path / "store.db", file, state=tmp_path / "state", resume=True)
    assert (done.code, len(done.taken)) == (ExitCode.PARTLY, COUNT)


def test_records_of_many_conversations_are_resumed_conversation_by_conversation(
    run: Callable[..., Imported], tmp_path: Path
) -> None:
    def record(session: int, number: int) -> dict[str, Any]:
        return {
            "type": "user", "sessionId": f"s-{session}", "uuid": f"{session}-{number}", "version": "1",
            "parentUuid": f"{session}-{number - 1}" if number else None, "timestamp": "2026-03-02T08:15:00Z",
            "message": {"role": "user", "content": f"{session} says {number}"},
        }  # fmt: skip

    file = tmp_path / "a.jsonl"
    file.write_bytes(lines(*(record(session, number) for number in range(3) for session in range(200))))
    stopped = run(file, new_id=ids_until(100))
    resumed = run(file, resume=True)
    assert len(stopped.taken) + len(resumed.taken) == 200
    assert {name: len(turns) for name, turns in stored(tmp_path / "store.db").items()} == {
        f"s-{session}": 3 for session in range(200)
    }


def test_a_store_that_fails_ends_the_import_with_what_was_done(file: Path, tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"no database" * 100)
    done = imported(tmp_path / "store.db", file)
    assert (done.code, done.results) == (ExitCode.STORE, [])


@pytest.mark.slow
def test_ctrl_c_ends_a_real_process_with_130_and_its_results_whole(tmp_path: Path) -> None:
    (tmp_path / "chats.jsonl").write_bytes(lines(*(chat(number) for number in range(5000))))
    arguments = (*PREFIX, "import", "chats.jsonl", "--store", "store.db", "--format", "json")
    environment = process_environment(XDG_STATE_HOME=str(tmp_path / "state"))
    process = subprocess.Popen(
        command_line(*arguments), cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    database = tmp_path / "store.db-wal"
    while time.monotonic() < deadline and not (database.exists() and database.stat().st_size > 500_000):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    document = json.loads(out)
    assert document["complete"] is False
    told = len(document["conversations"])
    assert document["total"]["conversations"] == told < 5000
    assert b"interrupted" in err
    assert 0 < told <= len(events(tmp_path / "store.db"))
    resumed = subprocess.run(
        command_line(*arguments, "--resume"),
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        timeout=120,
        check=True,
    )
    assert len(json.loads(resumed.stdout)["conversations"]) == 5000 - told
    assert len(events(tmp_path / "store.db")) == 5000
