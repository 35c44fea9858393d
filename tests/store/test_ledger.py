"""The ledger of erasures: what it says, which lines are none of it, and the positions that it gives."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from store.errors import (
    BadRequest,
    Conflict,
)
from store.upkeep.backup import erasures
from store.upkeep.verify import verify
from tests.store.backups import LINE, copied, events, filled_in, is_clean, opened, restored
from tests.store.filled import session
from tests.store.surface import Surface, payload, turn, turn_id


@pytest.fixture
def live(tmp_path: Path) -> Path:
    return filled_in(tmp_path / "live")


@pytest.fixture
def copy(live: Path, tmp_path: Path) -> Path:
    return copied(live, tmp_path / "copy.db")


def test_the_ledger_has_a_line_for_each_erasure_of_every_tenant(live: Path) -> None:
    with opened(live) as store:
        with closing(Surface(store, tenant="acme")) as surface:
            surface.erase("turn", turn_id(1))
        lines = [json.loads(line) for line in erasures(store)]
        rows = [json.loads(row) for row in store.audit()[0]]
    assert [(line["tenant"], line["kind"]) for line in lines] == [
        *(("default", kind) for kind in ("turn", "turn", "session", "session", "user", "user", "session")),
        ("acme", "turn"),
        ("default", "turns"),
        ("acme", "turns"),
    ]
    assert turn_id(41).replace("-", "") in lines[8]["turn_ids"]
    assert list(lines[0]) == list(LINE)
    assert (lines[0]["subject"], lines[0]["turns"], lines[0]["events"]) == (turn_id(41).replace("-", ""), 1, 2)
    assert [line["at"] for line in lines[:7]] == [row["at"] for row in rows]
    assert "carl" not in json.dumps(lines)


def test_a_ledger_of_more_lines_than_a_page_has_all_of_them(tmp_path: Path) -> None:
    with opened(tmp_path / "s.db") as store, closing(Surface(store)) as surface:
        surface.capture(payload(turn(1)))
        rows = [(2**40 + number, b"turn", bytes(16)) for number in range(2, 1203)]
        sql = "INSERT INTO erasures VALUES (?, 1, ?, ?, x'6b', 0, 0, 0, 0)"
        with store.engine.writing() as connection:
            connection.executemany(sql, rows)
        lines = [json.loads(line)["position"] for line in erasures(store)]
    assert lines == list(range(2, 1203))


WRONG: list[Any] = [
    b"nonsense",
    b"[]",
    b"7",
    b"{}",
    {**LINE, "position": 0},
    {**LINE, "position": "1"},
    {**LINE, "position": True},
    {**LINE, "position": 2**63},
    {**LINE, "position": 2**40 - 1},
    {**LINE, "kind": "all"},
    {**LINE, "kind": ["turn"]},
    {**LINE, "subject": "00"},
    {**LINE, "subject": "zz" * 16},
    {**LINE, "subject": None},
    {**LINE, "at": "yesterday"},
    {**LINE, "at": 7},
    {**LINE, "tenant": None},
    {**LINE, "key_name": 7},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_line_that_is_none_of_a_ledger_is_named_and_stops_the_restore(wrong: Any, copy: Path, tmp_path: Path) -> None:
    line = wrong if isinstance(wrong, bytes) else json.dumps(wrong).encode()
    with pytest.raises(BadRequest, match="line 2 of the ledger"):
        restored(copy, tmp_path / "new.db", [json.dumps(LINE).encode(), line])
    assert not (tmp_path / "new.db").exists()


def test_a_ledger_of_another_history_stops_the_restore(copy: Path, tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="position 1"):
        restored(copy, tmp_path / "new.db", [json.dumps({**LINE, "position": 1}).encode()])
    assert not (tmp_path / "new.db").exists()


def test_erasures_of_a_tenant_that_the_backup_does_not_know_keep_their_positions(copy: Path, tmp_path: Path) -> None:
    lines = [json.dumps({**LINE, "tenant": "new", "position": 7, "subject": turn_id(1).replace("-", "")}).encode()]
    assert restored(copy, tmp_path / "new.db", lines).erasures_applied == 1
    with opened(tmp_path / "new.db") as store, closing(Surface(store, tenant="new")) as surface:
        receipt = surface.capture(payload(turn(1, "gone"), turn(2)))
    assert (receipt["position"], receipt["turns"]["erased"]) == (8, 1)
    assert is_clean(tmp_path / "new.db")


@pytest.fixture
def gap(copy: Path, tmp_path: Path) -> Path:
    """A restored database whose log goes on a hundred positions later, twice."""
    end = len(events(copy)) + 7
    for number in (1, 2):
        lines = [json.dumps({**LINE, "position": end + 100 * number}).encode()]
        restored(copy if number == 1 else tmp_path / "1.db", tmp_path / f"{number}.db", lines)
    return tmp_path / "2.db"


def test_positions_that_a_restore_left_empty_are_not_lost(gap: Path) -> None:
    with opened(gap) as store, closing(Surface(store)) as surface:
        assert verify(store, print).findings == 0
        position = surface.capture(payload(turn(1), session=session(700)))["position"]
        surface.capture(payload(turn(2), session=session(700)))
        assert verify(store, print).findings == 0
    with closing(sqlite3.connect(gap, isolation_level=None)) as raw:
        raw.execute("DELETE FROM events WHERE event_key & ? = ?", (2**40 - 1, position))
        raw.execute("DELETE FROM events WHERE event_key & ? = 3", (2**40 - 1,))
    found: list[Any] = []
    with opened(gap) as store:
        verify(store, found.append)
    assert [finding.subject for finding in found if finding.kind == "lost_position"] == [
        "position 3",
        f"position {position}",
    ]


def test_a_turn_that_came_and_went_after_the_backup_is_known_by_the_ledger(live: Path, copy: Path) -> None:
    with opened(live) as store, closing(Surface(store)) as surface:
        surface.capture(payload(turn(70, "SECRET-70"), session=session(300)))
        surface.erase("session", session(300))
        lines = list(erasures(store))
    live.unlink()
    restored(copy, live, ledger=lines)
    with opened(live) as store, closing(Surface(store)) as surface:
        receipt = surface.capture(payload(turn(70, "SECRET-70"), turn(71), session=session(300)))
        assert receipt["turns"] == {"new": 1, "known": 0, "revised": 0, "erased": 1}
    assert is_clean(live)
