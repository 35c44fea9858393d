"""An embedded store whose file is not there yet: reads find nothing and make nothing, and the first write makes it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.errors import StoreConnectionError
from agent.sdk import ConversationMemory, Message
from tests.cli.streams import process_environment
from tests.sdk.memories import texts

READS: list[Callable[[ConversationMemory], object]] = [
    lambda memory: memory.for_session("s").history() == [],
    lambda memory: memory.for_session("s").history(3) == [],
    lambda memory: memory.for_session("s").params() == {},
    lambda memory: memory.for_session("s").waiting() is None,
    lambda memory: memory.for_session("s").resume() is None,
    lambda memory: memory.for_session("s").state()["version"] == 0,
    lambda memory: memory.for_session("s").summary()["message_count"] == 0,
    lambda memory: memory.for_session("s").stats()["total_messages"] == 0,
    lambda memory: memory.for_session("s").prune() == 0,
    lambda memory: memory.for_session("s").clear() is None,
    lambda memory: memory.for_session("s").merge({}) is None,
    lambda memory: memory.for_session("s", "sales").history() == [],
    lambda memory: memory.for_session("s").conversation_uuid == memory.for_session("s").conversation_uuid,
    lambda memory: list(memory.sessions()) == [],
    lambda memory: list(memory.sessions(q="hello", limit=3)) == [],
    lambda memory: memory.get_memory_stats()["total_sessions"] == 0,
    lambda memory: memory.get_conversation_context("s") == "",
    lambda memory: memory.get_conversation_insights("s")["message_count"] == 0,
    lambda memory: memory.cleanup_old_sessions() == 0,
]


@pytest.fixture(params=["a.db", " spaced .db ", "link.db"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A path at which there is no file, or a link that leads to none."""
    if request.param == "link.db":
        (tmp_path / "link.db").symlink_to(tmp_path / "behind.db")
    return tmp_path / request.param


@pytest.fixture
def memory(path: Path) -> Iterator[ConversationMemory]:
    with ConversationMemory(path, environ={}) as opened:
        yield opened


def files(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir() if not each.is_symlink())


def test_reads_of_what_is_not_there_are_of_an_empty_store_and_make_nothing(memory: ConversationMemory, path: Path):
    for read in READS:
        assert read(memory) is True
    assert files(path) == []


def test_the_first_write_makes_the_file_and_is_read(memory: ConversationMemory, path: Path):
    session = memory.for_session("s")
    assert texts(session) == []
    session.append(Message("user", "hello"))
    assert texts(session) == ["hello"]
    assert [row.native_session_id for row in memory.sessions()] == ["s"]
    assert len(files(path)) >= 1
    assert path.is_file()


def test_a_file_that_another_process_makes_later_is_seen(memory: ConversationMemory, path: Path):
    session = memory.for_session("s")
    assert texts(session) == []
    assert list(memory.sessions()) == []
    write = "import sys; from agent import *; ConversationMemory(sys.argv[1]).add_message('s', 'user', 'from afar')"
    subprocess.run([sys.executable, "-c", write, str(path)], env=process_environment(), timeout=60, check=True)
    assert texts(session) == ["from afar"]
    assert [row.native_session_id for row in memory.sessions()] == ["s"]
    session.append(Message("assistant", "from here"))
    assert texts(session) == ["from afar", "from here"]


def test_a_file_that_was_taken_away_is_an_empty_store_again(memory: ConversationMemory, path: Path):
    session = memory.for_session("s")
    session.append(Message("user", "hello"))
    assert texts(session) == ["hello"]
    real = Path(os.path.realpath(path))
    for file in real.parent.glob(f"{real.name}*"):
        file.unlink()
    assert texts(session) == []
    assert list(memory.sessions()) == []
    assert files(path) == []
    session.append(Message("user", "anew"))
    assert texts(session) == ["anew"]


def test_a_folder_that_went_is_no_empty_store(tmp_path: Path):
    # A disk that is gone, for instance: a read that failed is never an empty answer.
    folder = tmp_path / "mounted"
    folder.mkdir()
    with ConversationMemory(folder / "a.db", environ={"RUVECTOR_DEADLINE_S": "0.2"}) as memory:
        assert texts(memory.for_session("s")) == []
        folder.rmdir()
        for read in (memory.for_session("s").history, lambda: list(memory.sessions())):
            with pytest.raises(StoreConnectionError):
                read()


def test_a_path_that_cannot_be_looked_at_is_no_empty_store(tmp_path: Path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with ConversationMemory(folder / "a.db", environ={"RUVECTOR_DEADLINE_S": "0.2"}) as memory:
        folder.rmdir()
        folder.write_text("now a file")
        with pytest.raises(StoreConnectionError):
            memory.for_session("s").history()


def test_the_store_of_the_environment_is_not_made_by_a_read_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with ConversationMemory(environ={}) as memory:
        assert texts(memory.for_session("s")) == []
        assert list(tmp_path.iterdir()) == []


def test_what_was_only_read_is_closed_and_leaves_nothing(path: Path):
    memory = ConversationMemory(path, environ={})
    assert texts(memory.for_session("s")) == []
    memory.close()
    memory.close()
    with pytest.raises(StoreConnectionError, match="closed"):
        memory.for_session("s").history()
    with pytest.raises(StoreConnectionError, match="closed"):
        memory.sessions()
    assert files(path) == []
