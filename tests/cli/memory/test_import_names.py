"""What an import is given to read, and what the sessions without an id are called then: no two files alike."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from agent.cli.exit_codes import ExitCode
from tests.cli.memory.importing import chat, imported, lines, shown, stored
from tests.cli.streams import terminal

CHATS = lines(chat(1), chat(2))


def files(folder: Path, *names: str) -> None:
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(chat(number)))


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["."], {"messages.json", "a/messages.json", "a/b/messages.json", "c/other.json"}),
        (["a"], {"messages.json", "b/messages.json"}),
        (["a/b", "c"], {"messages.json", "other.json"}),
        (["a/messages.json", "c/other.json"], {"messages.json", "other.json"}),
        (["messages.json", "a/messages.json"], {"top/messages.json", "a/messages.json"}),
        (["*/messages.json", "a/b/messages.json", "c/*"], {"a/messages.json", "b/messages.json", "other.json"}),
        (["a/b", "messages.json"], {"b/messages.json", "top/messages.json"}),
        # Each file once, as it was named first.
        (["a/messages.json", "a"], {"messages.json", "b/messages.json"}),
    ],
)
def test_no_two_files_have_one_name(
    given: list[str], names: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = tmp_path / "top"
    files(top, "messages.json", "a/messages.json", "a/b/messages.json", "c/other.json")
    monkeypatch.chdir(top)
    done = imported(tmp_path / "store.db", *given)
    assert (done.code, done.sum("revised")) == (ExitCode.OK, 0)
    assert set(stored(tmp_path / "store.db")) == {f"{name}#0" for name in names}


def test_the_members_of_archives_are_told_apart_too(tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for member in ("a/m.json", "b/m.json"):
                archive.writestr(member, json.dumps(chat(len(name + member))))
    store = tmp_path / "store.db"
    imported(store, tmp_path / "one.zip")
    assert set(stored(store)) == {"a/m.json#0", "b/m.json#0"}
    imported(tmp_path / "both.db", tmp_path / "one.zip", tmp_path / "two.zip")
    found = set(stored(tmp_path / "both.db"))
    assert found == {f"{name}/{folder}/m.json#0" for name in ("one.zip", "two.zip") for folder in "ab"}
    # In a folder they have the same names however many there are.
    imported(tmp_path / "folder.db", tmp_path)
    assert set(stored(tmp_path / "folder.db")) == found


def test_a_name_stands_for_all_files(tmp_path: Path) -> None:
    files(tmp_path, "a.json", "b.json")
    done = imported(tmp_path / "store.db", tmp_path / "a.json", tmp_path / "b.json", source_name="all")
    assert done.sum("revised") == 1
    assert set(stored(tmp_path / "store.db")) == {"all#0"}


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_is_read_plain_and_packed(pack: type[bytes], tmp_path: Path) -> None:
    code, out, err = shown(tmp_path / "store.db", "-", screen=terminal(stdin=pack(CHATS)))
    assert (code, err) == (ExitCode.OK, "")
    assert out.splitlines()[1].split()[:3] == ["stdin", "openai-chat", "2"]
    assert set(stored(tmp_path / "store.db")) == {"stdin#0", "stdin#1"}


def test_without_standard_input_nothing_is_read(tmp_path: Path) -> None:
    code, _, err = shown(tmp_path / "store.db", "-", screen=terminal(stdin=None))
    assert (code, err) == (ExitCode.USAGE, "memory-graph: there is no standard input\n")
    code, _, err = shown(tmp_path / "store.db", "-", screen=terminal(stdin=b""))
    assert (code, err) == (ExitCode.NOT_POSSIBLE, "stdin: empty\n")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_pipe_is_read_as_the_file_that_it_stands_for(
    pack: type[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "spool"))
    (tmp_path / "spool").mkdir()
    # Longer than a pipe holds, and of records, which are gone through several times.
    records = [
        {"type": "user", "sessionId": f"s-{session}", "uuid": f"{session}-{number}", "version": "1",
         "parentUuid": None, "timestamp": "2026-03-02T08:15:00Z", "message": {"role": "user", "content": "x" * 500}}
        for number in range(20) for session in range(20)
    ]  # fmt: skip
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(pack(lines(*records))))
    writer.start()
    done = imported(tmp_path / "store.db", pipe)
    writer.join()
    assert (done.code, len(done.taken), done.sum("new")) == (ExitCode.OK, 20, 400)
    assert {result["file"] for result in done.taken} == {str(pipe)}
    # Of the copy nothing is left.
    assert list((tmp_path / "spool").iterdir()) == []


def test_what_a_shell_puts_in_the_place_of_a_file_is_read(tmp_path: Path) -> None:
    read, write = os.pipe()
    with os.fdopen(write, "wb") as file:
        file.write(CHATS)
    try:
        done = imported(tmp_path / "store.db", f"/dev/fd/{read}")
    finally:
        os.close(read)
    assert (done.code, len(done.taken)) == (ExitCode.OK, 2)
    assert set(stored(tmp_path / "store.db")) == {f"{read}#0", f"{read}#1"}


class Broken(io.BytesIO):
    """A standard input that ends in a failure."""

    def read(self, size: int | None = -1, /) -> bytes:
        raise OSError(errno.EIO, "no")


def test_a_stream_that_breaks_off_is_told_in_its_place(tmp_path: Path) -> None:
    files(tmp_path, "a.json")
    at = replace(terminal(), stdin=Broken())
    code, _, err = shown(tmp_path / "store.db", "-", tmp_path / "a.json", screen=at)
    assert (code, err) == (ExitCode.PARTLY, "stdin: Input/output error\n")
