"""Sources that are not there, vanish, are packed or named in two ways, and conversations that hold nothing."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from agent.cli.exit_codes import ExitCode
from tests.cli.memory.importing import chat, imported, lines, said, shown
from tests.cli.memory.test_import_hostile import when_asked
from tests.store.surface import payload, turn

CHATS = lines(chat(1), chat(2))
SILENT = {"id": "s", "app_name": "planner", "user_id": "ann", "state": {}, "events": []}


def interrupt() -> None:
    raise KeyboardInterrupt


def absent(file: Path) -> dict[str, Any]:
    """What a script is told of a file that is not there."""
    return {
        "file": str(file),
        "place": None,
        "error": {"kind": "files that cannot be read", "message": "No such file or directory"},
    }


def test_a_link_that_leads_nowhere_is_told_among_the_others_that_a_pattern_matches(tmp_path: Path) -> None:
    (tmp_path / "a.json").symlink_to(tmp_path / "gone")
    (tmp_path / "b.json").write_bytes(CHATS)
    done = imported(tmp_path / "store.db", tmp_path / "*.json", state=tmp_path / "state")
    assert (done.code, done.results[0]) == (ExitCode.PARTLY, absent(tmp_path / "a.json"))
    assert [result["place"] for result in done.taken] == [0, 1]


def test_a_file_that_vanishes_before_its_turn_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(*(chat(number) for number in range(300))))
    (tmp_path / "b.jsonl").write_bytes(CHATS)
    vanish = when_asked(5, (tmp_path / "b.jsonl").unlink)
    done = imported(tmp_path / "store.db", tmp_path, new_id=vanish)
    assert (done.code, done.results[-1]) == (ExitCode.PARTLY, absent(tmp_path / "b.jsonl"))
    assert len(done.taken) == 300


def test_of_an_archive_that_breaks_off_everyone_is_told_which_it_is(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    texts = (chat(number, [{"role": "user", "content": os.urandom(50).hex()}]) for number in range(300))
    file.write_bytes(gzip.compress(lines(*texts))[:-200])
    done = imported(tmp_path / "store.db", file)
    assert len(done.taken) > 5
    assert done.results[-1] == {"file": str(file), "place": None, "error": {"kind": "the archive is damaged"}}
    code, _, err = shown(tmp_path / "store.db", file)
    assert (code, f"{file}: the archive is damaged" in err) == (ExitCode.PARTLY, True)


def stopped(file: Path, state: Path | None) -> None:
    """An import of ``file`` that ended in the middle of its 300 conversations."""
    ended = imported(file.parent / "store.db", file, state=state, new_id=when_asked(150, interrupt))
    assert ended.code is ExitCode.INTERRUPTED


def test_a_packed_file_is_gone_on_with_where_it_was_stopped(tmp_path: Path) -> None:
    file, state = tmp_path / "a.jsonl.gz", tmp_path / "state"
    file.write_bytes(gzip.compress(lines(*(chat(number) for number in range(300)))))
    stopped(file, state)
    done = imported(tmp_path / "store.db", file, state=state, resume=True)
    assert done.code is ExitCode.OK
    assert 0 < len(done.taken) < 200
    assert done.taken[-1]["place"] == 299
    assert len(said(tmp_path / "store.db")) == 300


def test_without_a_home_nothing_is_noted_and_all_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(lines(*(chat(number) for number in range(300))))
    stopped(file, None)
    done = imported(tmp_path / "store.db", file, resume=True)
    assert (done.code, len(done.taken)) == (ExitCode.OK, 300)


def without_a_sum(file: dict[str, Any]) -> None:
    del file["account"]["captures"]


def with_other_sums(file: dict[str, Any]) -> None:
    file["account"]["skipped"] = 3


def with_another_mark(file: dict[str, Any]) -> None:
    file["mark"] = [1.5, 3]


@pytest.mark.parametrize("change", [without_a_sum, with_other_sums, with_another_mark])
def test_a_state_that_another_release_wrote_means_that_all_is_read_again(
    change: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    file, state = tmp_path / "a.jsonl", tmp_path / "state"
    file.write_bytes(lines(*(chat(number) for number in range(300))))
    stopped(file, state)
    (kept,) = state.rglob("*.json")
    saved = json.loads(kept.read_text())
    (of_file,) = saved["files"].values()
    change(of_file)
    text = json.dumps([saved["reference"], saved["files"]], sort_keys=True)
    kept.write_text(json.dumps({**saved, "digest": hashlib.sha256(text.encode()).hexdigest()}))
    done = imported(tmp_path / "store.db", file, state=state, resume=True)
    assert (done.code, len(done.taken)) == (ExitCode.OK, 300)


def test_two_pipes_are_read_to_their_ends_each_by_itself(tmp_path: Path) -> None:
    pipes = [tmp_path / "one", tmp_path / "two"]
    writers = []
    for number, pipe in enumerate(pipes):
        os.mkfifo(pipe)
        writers.append(Thread(target=pipe.write_bytes, args=[lines(chat(number))]))
        writers[-1].start()
    done = imported(tmp_path / "store.db", *pipes)
    for writer in writers:
        writer.join()
    assert (done.code, len(done.taken), done.sum("new")) == (ExitCode.OK, 2, 10)


def test_files_named_from_the_root_and_from_here_are_shown_as_they_were_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.json").write_bytes(CHATS)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.json").write_bytes(lines(chat(3)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = shown(tmp_path / "store.db", tmp_path / "a.json", "b/c.json")
    assert code is ExitCode.OK
    assert "b/c.json" in out
    assert "a.json" in out


def test_a_session_in_which_nothing_was_said_is_counted_and_no_capture(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(SILENT))
    (tmp_path / "b.json").write_bytes(CHATS)
    done = imported(tmp_path / "store.db", tmp_path)
    assert done.code is ExitCode.OK
    assert len(said(tmp_path / "store.db")) == 2
    code, _, err = shown(tmp_path / "store.db", tmp_path / "a.json")
    assert code is ExitCode.NOT_POSSIBLE
    assert "holds no conversation with a message" in err


def test_where_at_leads_to_what_no_format_knows_that_is_said_with_the_place(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"run": {"log": [1, 2]}}))
    code, _, err = shown(tmp_path / "store.db", tmp_path / "a.json", at="run.log")
    assert code is ExitCode.NOT_POSSIBLE
    assert "no messages that we read at run.log" in err


def test_a_recording_of_calls_that_no_format_knows_is_no_conversation(tmp_path: Path) -> None:
    call = {"request": {"body": {"q": 1}}, "response": {"status": 200, "body": {"a": 2}}}
    (tmp_path / "a.json").write_text(json.dumps({"interactions": [call, call]}))
    code, _, err = shown(tmp_path / "store.db", tmp_path / "a.json")
    assert code is ExitCode.NOT_POSSIBLE
    assert "not a conversation format that we read" in err


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_native_capture_has_the_bounds_of_one_that_is_posted(dry_run: bool, tmp_path: Path) -> None:
    large = payload(turn(1, "x" * (17 * 1024 * 1024)))
    many = payload(turn(1, "Hi"), native={"of": [0] * 1_100_000})
    for name, document in (("large", large), ("many", many), ("small", payload(turn(1, "Hi")))):
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    done = imported(tmp_path / "store.db", tmp_path, dry_run=dry_run)
    assert done.code is ExitCode.PARTLY
    assert [Path(result["file"]).name for result in done.taken] == ["small.json"]


def test_a_native_capture_that_asks_for_ids_has_them_derived(tmp_path: Path) -> None:
    at = {"timestamp": "2026-03-02T08:15:00Z"}
    turns = [{"turn_id": "t1", "role": "user", "content": "Hi", **at}]
    named = {"session_id": "my session", "conversation_id": "my talk", "turns": turns, **at}
    (tmp_path / "a.json").write_text(json.dumps({**named, "capture_options": {"derive_ids": True}}))
    (told,) = imported(tmp_path / "store.db", tmp_path / "a.json").taken
    assert (told["format"], told["native_session_id"], told["new"]) == ("native", "my session", 1)
    assert said(tmp_path / "store.db") == {"my session": [("user", "Hi")]}


@pytest.mark.parametrize(("count", "words"), [(1, "1 turn is stored with more"), (2, "2 turns are stored with more")])
def test_turns_that_stay_fuller_than_was_asked_are_said_in_words(count: int, words: str, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": f"Hello {number}"} for number in range(count)]
    for name, more in (("a", {}), ("b", {"capture_options": {"content": "none"}})):
        (tmp_path / f"{name}.json").write_text(json.dumps({"session_id": "s", "messages": messages, **more}))
        code, _, err = shown(tmp_path / "store.db", tmp_path / f"{name}.json")
        assert code is ExitCode.OK
    assert words in err
