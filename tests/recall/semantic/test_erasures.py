"""Erasures looked for in a store of many sessions, whose answers are not all as they should be."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent.core.turn import SessionTurn
from agent.errors import NewerContract, StoreNotFound, StoreWriteError
from agent.recall.semantic.erasures import Swept, sweep
from agent.recall.semantic.vector_files import VectorFiles
from tests.recall.semantic.said_turns import MODEL, semantic, turn

SESSIONS = [f"6f1d2c3a-8b4e-4f70-9a51-{number:012x}" for number in range(3)]


class Reads:
    """A store that lists a session a page, and raises ``raises`` when it is asked for turns of one."""

    def __init__(self, turns: dict[str, list[SessionTurn]], raises: Exception | None = None) -> None:
        self.turns, self.raises = turns, raises
        self.cursors: list[str | None] = []
        self.stands = False

    def sessions(self, *, limit: int, cursor: str | None) -> Any:
        self.cursors.append(cursor)
        place = 0 if cursor is None else int(cursor)
        rows = [SimpleNamespace(session_id=SESSIONS[place].upper(), version=9)]
        following = place if self.stands and cursor else place + 1
        return SimpleNamespace(sessions=rows, next_cursor=str(following) if following < len(SESSIONS) else None)

    def turn_rows(self, session_id: str, *, after_seq: int, limit: int, changed_after: int) -> Any:
        if self.raises is not None:
            raise self.raises
        found = [each for each in self.turns[session_id] if each.seq > after_seq]
        return SimpleNamespace(turns=found)


@pytest.fixture
def files(tmp_path: Path) -> VectorFiles:
    """With vectors of two turns of each session."""
    for session in SESSIONS:
        semantic(tmp_path).rank(
            [turn(1, "where is my parcel"), turn(2, "the invoice is paid")], "parcel", session_id=session
        )
    return VectorFiles(tmp_path, MODEL)


def filed(files: VectorFiles) -> list[int]:
    return [len(files.of(session).read().filed) for session in SESSIONS]


def test_a_list_of_several_pages_is_read_to_its_end(files: VectorFiles, tmp_path: Path) -> None:
    erased, kept = turn(1, None, erased=True), turn(2, "the invoice is paid")
    reads = Reads({SESSIONS[0]: [kept], SESSIONS[1]: [kept], SESSIONS[2]: [erased]})
    assert filed(files) == [2, 2, 2]
    assert sweep(reads, semantic(tmp_path), files) == Swept(1, 0)  # type: ignore[arg-type]  # what it asks of a store
    assert (filed(files), reads.cursors) == ([2, 2, 1], [None, "1", "2"])
    # Of what was looked for nobody is asked again.
    reads.raises = AssertionError()
    assert sweep(reads, semantic(tmp_path), files) == Swept(0, 0)  # type: ignore[arg-type]  # as above


@pytest.mark.parametrize("raised", [StoreNotFound("gone"), NewerContract("newer")], ids=["gone", "newer"])
def test_the_vectors_of_a_session_that_nobody_can_read_any_more_go_whole(
    raised: Exception, files: VectorFiles, tmp_path: Path
) -> None:
    assert sweep(Reads({}, raised), semantic(tmp_path), files) == Swept(0, 3)  # type: ignore[arg-type]  # as above
    assert list(files.sessions()) == []


def test_a_list_whose_pages_do_not_advance_is_no_list(files: VectorFiles, tmp_path: Path) -> None:
    reads = Reads({})
    reads.stands = True
    with pytest.raises(StoreWriteError, match="do not advance"):
        sweep(reads, semantic(tmp_path), files)  # type: ignore[arg-type]  # as above
    assert filed(files) == [2, 2, 2]
