"""``verify`` over stores that list in circles, or are damaged where gaps are explained."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.cli.exit_codes import ExitCode
from tests.cli.memory.test_verify_damage import verified
from tests.ruvector.peer import Peer, answer

GAP = {"events": [{"position": 1}, {"position": 6}], "next_cursor": "a"}
END = {"events": [], "next_cursor": "a"}
ROW = {"session_id": "s", "created_at": "", "last_activity": "", "turn_count": 1, "version": 6}
DAMAGED = b'{"error":"internal_error","message":"m","details":{"rule":"damaged_database"}}'


def steps(*documents: dict[str, Any]) -> list[Any]:
    return [answer(200, json.dumps(each, separators=(",", ":")).encode()) for each in documents]


def found(*script: Any) -> dict[str, Any]:
    with Peer(*script) as peer:
        return dict(json.loads(verified(peer.url)[1]))


@pytest.mark.parametrize("before", [(), ({"sessions": [ROW], "next_cursor": None},)], ids=["the list", "the audit"])
def test_a_store_that_is_damaged_where_its_gaps_are_explained_is_a_finding(before: tuple[dict[str, Any], ...]) -> None:
    with Peer(*steps(GAP, END, *before), answer(500, DAMAGED)) as peer:
        code, out, _ = verified(peer.url)
    said = json.loads(out)
    assert (code, said["complete"], said["findings"][0]["subject"]) == (ExitCode.DIFFERS, False, "the database")


def test_a_list_of_sessions_that_goes_in_a_circle_is_read_once_round() -> None:
    circle = [{"sessions": [ROW], "next_cursor": cursor} for cursor in ("x", "y", "x")]
    said = found(*steps(GAP, END, *circle, {"audit": [], "next_after": None}))
    assert [each["subject"] for each in said["findings"]] == ["positions 2 to 5"]
