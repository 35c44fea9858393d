"""Files that nobody's exporter makes: odd names, broken archives, what changes or never ends while it is read."""

from __future__ import annotations

import gzip
import json
import os
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.bootstrap import new_id
from agent.capture.service import MAX_ENVELOPE_BYTES
from agent.cli.exit_codes import ExitCode
from tests.cli.memory.importing import chat, events, imported, lines, shown, stored

CHATS = lines(chat(1), chat(2))


def record(session: str, number: int, text: str = "Hi") -> dict[str, Any]:
    return {
        "type": "user", "sessionId": session, "uuid": f"{session}-{number}", "version": "1",
        "parentUuid": f"{session}-{number - 1}" if number else None, "timestamp": "2026-03-02T08:15:00Z",
        "message": {"role": "user", "content": text},
    }  # fmt: skip


def when_asked(count: int, do: Callable[[], object]) -> Callable[[], str]:
    """References for captures; before one of them something happens."""
    left = [count]

    def next_id() -> str:
        left[0] -= 1
        if left[0] == 0:
            do()
        return new_id()

    return next_id


def test_a_name_that_is_no_text_stands_for_its_bytes(tmp_path: Path) -> None:
    for name in (b"sur\xff.json", b"sur\\xff.json"):
        Path(os.fsdecode(bytes(tmp_path) + b"/" + name)).write_text(json.dumps(chat(len(name))))
    done = imported(tmp_path / "store.db", tmp_path)
    assert (done.code, done.sum("new"), done.sum("revised")) == (ExitCode.OK, 10, 0)
    # As text both have one name, however many folders stand before it.
    first, second = sorted(stored(tmp_path / "store.db"))
    assert (first.endswith("sur\\xff.json (2)#0"), second.endswith("sur\\xff.json#0")) == (True, True)


@pytest.mark.parametrize("option", ["source_name", "at"])
def test_options_that_are_no_text_are_refused(option: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(CHATS)
    code, out, err = shown(tmp_path / "store.db", tmp_path / "a.json", **{option: "a\udcff"})
    assert (code, out) == (ExitCode.USAGE, "")
    assert "is not text in this terminal's encoding" in err


@pytest.mark.parametrize("name", ["x" * 5000, "x" * 5000 + "*", "a\0b", "a.json/b"])
def test_a_name_that_no_file_can_have_is_refused_in_words(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(CHATS)
    code, _, err = shown(tmp_path / "store.db", f"{tmp_path}/{name}")
    assert code is ExitCode.USAGE
    assert len(err) < 500


@pytest.mark.parametrize("change", ["truncated", "junk", "others"])
def test_records_that_change_while_they_are_read_are_told_and_the_next_file_is_read(
    change: str, tmp_path: Path
) -> None:
    # More than are on their way at a time.
    file = tmp_path / "a.jsonl"
    file.write_bytes(lines(*(record(f"s-{session:04}", 0, "x" * 9000) for session in range(2000))))
    (tmp_path / "b.jsonl").write_bytes(CHATS)
    size = file.stat().st_size

    def happen() -> None:
        with file.open("r+b") as stream:
            if change == "truncated":
                stream.truncate(size // 2)
            else:
                stream.seek(size // 2)
                rest = stream.read()
                stream.seek(size // 2)
                stream.write(b"{}\n" * 1000 if change == "junk" else rest.replace(b"s-1", b"t-1"))

    done = imported(tmp_path / "store.db", tmp_path, new_id=when_asked(5, happen))
    assert done.code is ExitCode.PARTLY
    assert set(done.kinds) == {"changed while it was read"}
    assert [result["place"] for result in done.taken if result["file"].endswith("b.jsonl")] == [0, 1]


def test_a_file_that_was_replaced_while_it_was_read_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(lines(*(chat(number) for number in range(300))))

    def replace() -> None:
        (tmp_path / "new").write_bytes(lines(*(chat(number + 1000) for number in range(300))))
        (tmp_path / "new").rename(file)

    def interrupt() -> None:
        raise KeyboardInterrupt

    both = when_asked(50, replace), when_asked(150, interrupt)
    state = tmp_path / "state"
    stopped = imported(tmp_path / "store.db", file, state=state, new_id=lambda: both[0]() and both[1]())
    assert stopped.code is ExitCode.INTERRUPTED
    assert len(imported(tmp_path / "store.db", file, state=state, resume=True).taken) == 300


def test_what_nobody_named_is_read_where_it_is_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.json").write_bytes(CHATS)
    os.mkfifo(folder / "pipe.json")
    (folder / "zero.json").symlink_to("/dev/zero")
    for given in (folder, folder / "*", folder / "**"):
        done = imported(tmp_path / "store.db", given)
        assert (done.code, len(done.taken)) == (ExitCode.OK, 2)
    assert imported(tmp_path / "store.db", folder / "p*").code is ExitCode.USAGE


def test_links_that_lead_in_circles_are_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.json").write_text(json.dumps(chat(1)))
    (folder / "deep/b.json").write_text(json.dumps(chat(2)))
    for name in ("loop", "again", "deep/loop"):
        (folder / name).symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    patterns = ["data/**/*.json", "data/loop/**/*.json", "**/*.json", "data/**/**/loop/**/*.json", "data/**"]
    for given in ("data", *patterns, *(f"{tmp_path}/{pattern}" for pattern in patterns)):
        done = imported(tmp_path / "store.db", given)
        assert (done.code, len(done.taken)) == (ExitCode.OK, 2), given


@pytest.mark.parametrize("dry_run", [False, True])
def test_of_what_no_store_takes_nothing_is_stored(dry_run: bool, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    texts = ["a", "x" * (MAX_ENVELOPE_BYTES + 1), "b"]
    messages = [{"role": "user", "content": text} for text in texts]
    file.write_bytes(lines({"messages": messages}, chat(1)))
    done = imported(tmp_path / "store.db", file, dry_run=dry_run)
    assert (done.code, done.kinds, len(done.taken)) == (ExitCode.PARTLY, ["larger than a store takes"], 1)
    if not dry_run:
        assert len(events(tmp_path / "store.db")) == 1
    alone = tmp_path / "b.jsonl"
    alone.write_bytes(lines({"messages": messages}))
    assert "1 refused, the first with: the capture is larger" in shown(tmp_path / "x.db", alone, dry_run=True)[2]


def test_every_member_of_an_archive_is_read_also_those_of_one_name(tmp_path: Path) -> None:
    archive = tmp_path / "twice.zip"
    with warnings.catch_warnings(), zipfile.ZipFile(archive, "w") as members:
        warnings.simplefilter("ignore")
        for number in range(3):
            members.writestr("a.json", json.dumps(chat(number)))
    done = imported(tmp_path / "store.db", archive)
    assert (done.sum("new"), done.sum("revised")) == (15, 0)
    assert {name: turns[0].content for name, turns in stored(tmp_path / "store.db").items()} == {
        "a.json#0": "Conversation 0",
        "a.json (2)#0": "Conversation 1",
        "a.json (3)#0": "Conversation 2",
    }


def noise() -> str:
    return os.urandom(50).hex()


def zipped(path: Path, name: str, data: bytes) -> bytes:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        if name:
            archive.writestr(name, data)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("name", "cut", "kind"),
    [
        ("", 0, "no JSON in the archive"),
        ("notes.txt", 0, "no JSON in the archive"),
        ("a.json", 40, "the archive is damaged"),
        ("notes.txt", 40, "the archive is damaged"),
    ],
)
def test_an_archive_that_gives_nothing_says_why(name: str, cut: int, kind: str, tmp_path: Path) -> None:
    data = zipped(tmp_path / "x", name, CHATS)
    file = tmp_path / "a.zip"
    file.write_bytes(data[: len(data) - cut])
    assert shown(tmp_path / "store.db", file)[::2] == (ExitCode.NOT_POSSIBLE, f"{file}: {kind}\n")
    (tmp_path / "b.json").write_bytes(CHATS)
    code, out, _ = shown(tmp_path / "store.db", file, tmp_path / "b.json")
    assert code is ExitCode.PARTLY
    assert f"skipped  1  {kind}" in out


@pytest.mark.parametrize("kind", ["lines", "array", "records", "codex"])
@pytest.mark.parametrize("pack", ["gz", "zip"])
def test_what_a_broken_archive_still_gives_is_read(pack: str, kind: str, tmp_path: Path) -> None:
    codex = [{"type": "session_meta", "timestamp": "2026-03-02T08:15:00Z", "payload": {"id": "s"}}] + [
        {"type": "response_item", "timestamp": "2026-03-02T08:15:00Z", "payload": {
            "type": "message", "role": "user", "content": [{"type": "input_text", "text": noise()}]}}
        for _ in range(400)
    ]  # fmt: skip
    data = {
        "lines": lines(*(chat(number, [{"role": "user", "content": noise()}]) for number in range(400))),
        "array": json.dumps(
            [chat(number, [{"role": "user", "content": noise()}]) for number in range(400)], indent=1
        ).encode(),
        "records": lines(*(record(f"s-{number}", 0, noise()) for number in range(400))),
        "codex": lines(*codex),
    }[kind]
    file = tmp_path / f"a.json.{pack}"
    if pack == "gz":
        file.write_bytes(gzip.compress(data)[:-200])
    else:
        whole = bytearray(zipped(tmp_path / "x", "a.json", data))
        # The compressed data are wrong from there on; the directory at the end is whole.
        at = whole.index(b"PK\x01\x02") - 200
        whole[at : at + 150] = b"\xff" * 150
        file.write_bytes(whole)
    done = imported(tmp_path / "store.db", file)
    assert done.code is ExitCode.PARTLY
    assert done.sum("new") > 5
    assert "1  the archive is damaged" in shown(tmp_path / "store.db", file)[1]


def edited(saved: dict[str, Any], change: str) -> str:
    (file,) = saved["files"].values()
    if change == "nested":
        return "[" * 100_000
    if change in ("digest", "no object"):
        return json.dumps({**saved, "digest": 7} if change == "digest" else [saved])
    if change == "files":
        return json.dumps({**saved, "files": [[[]]]})
    if change == "account":
        file["account"]["skipped"] = {"x": []}
    else:
        file["mark"] = {"huge": [10**30, 10**30], "negative": [-1, -1], "shifted": [0, 200], "junk": [[[]], None]}[
            change
        ]
    return json.dumps(saved)


@pytest.mark.parametrize(
    "change", ["huge", "negative", "shifted", "junk", "account", "nested", "digest", "no object", "files"]
)
def test_a_state_that_somebody_else_wrote_means_that_all_is_read_again(change: str, tmp_path: Path) -> None:
    file, state = tmp_path / "a.jsonl", tmp_path / "state"
    file.write_bytes(lines(*(chat(number) for number in range(200))))

    def interrupt() -> None:
        raise KeyboardInterrupt

    imported(tmp_path / "store.db", file, state=state, new_id=when_asked(100, interrupt))
    (kept,) = state.rglob("*.json")
    kept.write_text(edited(json.loads(kept.read_text()), change))
    done = imported(tmp_path / "store.db", file, state=state, resume=True)
    assert (done.code, len(done.taken)) == (ExitCode.OK, 200)
