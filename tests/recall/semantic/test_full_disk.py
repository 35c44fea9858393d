"""A file of vectors where there is no room, or no folder any more: what was there stays, and nothing is left over."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.recall.semantic.session_file import SessionFile
from tests.recall.semantic.said_turns import turn_id
from tests.recall.semantic.test_session_file import ROW, filed


@contextmanager
def no_room_beyond(size: int) -> Iterator[None]:
    """No file of this process can be longer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_file_that_cannot_be_put_anew_stays_as_it_was_and_alone(tmp_path: Path) -> None:
    file = SessionFile(tmp_path / "session.vectors", ROW)
    file.append([filed(1), filed(2)])
    before = file.path.read_bytes()
    with no_room_beyond(16), pytest.raises(OSError, match="File too large"):
        file.forget({turn_id(1)})
    assert file.path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file.path]


def test_a_file_that_cannot_even_be_made_takes_nothing_and_has_nothing(tmp_path: Path) -> None:
    # As when its folder goes in the moment after it was made.
    file = SessionFile(tmp_path / "session.vectors", ROW)
    file.path.symlink_to(tmp_path / "gone" / "session.vectors")
    file.append([filed(1)])
    assert file.read().filed == ()
    assert not (tmp_path / "gone").exists()
