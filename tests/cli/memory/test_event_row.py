import json
import unicodedata
from typing import Any

import pytest
from rich.cells import cell_len

from agent.cli.columns import Columns
from agent.cli.memory.events.event_row import COLUMNS, event_row, session_of_fed
from agent.ruvector.feed import FedEvent, read_event

SESSION = "6F1A0000-0000-4000-8000-00000000000A"
OTHER = "6f1a0000-0000-4000-8000-00000000000b"


def fed(**members: Any) -> FedEvent:
    return read_event(json.dumps(members).encode())


def test_a_capture_is_found_again_by_its_row() -> None:
    outputs = {"session_id": OTHER, "turn_count": 3}
    event = fed(
        position=7,
        type="conversation_capture",
        runId="r-1",
        timestamp="2026-03-02T08:15:00.999999Z",
        payload={"inputs": {"session_id": SESSION}, "outputs": outputs},
    )
    assert event_row(event) == ["7", "2026-03-02T08:15:00Z", "3", "r-1", SESSION.lower()]
    assert session_of_fed(event) == SESSION.lower()


@pytest.mark.parametrize(("native", "shown"), [("chat-7", "chat-7"), ({"a": 1}, '{"a": 1}')])
def test_a_session_is_named_by_its_own_id_too(native: object, shown: str) -> None:
    inputs = {"session_id": SESSION, "native_session_id": native}
    assert event_row(fed(payload={"inputs": inputs}))[4] == f"{SESSION.lower()} ({shown})"
    assert event_row(fed(payload={"inputs": {"native_session_id": native}}))[4] == "no type of no agent"


@pytest.mark.parametrize("native", ["x" * 300, "\u5b8c" * 300, "\x1b[2J\r\n\u202e" * 99])
def test_a_session_s_own_id_is_safe_and_cut_and_its_uuid_is_whole(native: str) -> None:
    event = fed(payload={"inputs": {"session_id": SESSION, "native_session_id": native}})
    for width in (20, 80, 110, 200):
        row = Columns(COLUMNS, width=width, encoding="utf-8").row(event_row(event))
        assert f"  {SESSION.lower()} (" in row
        assert cell_len(row) <= max(width, 140)
        assert row.endswith("...")
        assert not {unicodedata.category(character) for character in row} & {"Cc", "Cf"}


def test_a_bare_event_is_its_own_envelope() -> None:
    event = fed(execution_ref="r", timestamp="2026-03-02T08:15:00Z", outputs={"session_id": OTHER, "turn_count": 1})
    assert event_row(event) == ["-", "2026-03-02T08:15:00Z", "1", "r", OTHER]
    assert session_of_fed(event) == OTHER


@pytest.mark.parametrize(
    ("members", "what"),
    [
        ({"type": "plan", "payload": {"agent_id": "planner"}}, "plan of planner"),
        ({"type": "plan", "payload": {}}, "plan of no agent"),
        ({"payload": {"agent_id": 7}}, "no type of 7"),
        ({"type": "t", "payload": {"inputs": {"session_id": "chat-7"}, "outputs": [1]}}, "t of no agent"),
        ({"type": "t", "payload": 5}, "t of no agent"),
    ],
)
def test_an_event_of_no_session_says_what_it_is_and_whose(members: dict[str, Any], what: str) -> None:
    event = fed(**members)
    assert event_row(event) == ["-", "-", "-", "-", what]
    assert session_of_fed(event) is None


@pytest.mark.parametrize(
    ("timestamp", "shown"),
    [
        ("2026-03-02T08:15:00+02:00", "2026-03-02T06:15:00Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.9Z", "9999-12-31T23:59:59Z"),
        ("yesterday", "yesterday"),
        (7, "-"),
    ],
)
def test_a_time_is_shown_in_utc_to_the_second_and_anything_else_as_it_is(timestamp: object, shown: str) -> None:
    assert event_row(fed(timestamp=timestamp))[1] == shown


@pytest.mark.parametrize(
    ("turns", "shown"),
    [
        ([{"erased": True}, {"erased": True}], "erased"),
        ([{"erased": True}, {"content": "kept"}], "2"),
        ([], "erased"),
        (None, "erased"),
    ],
)
def test_an_event_is_called_erased_where_no_turn_of_it_has_its_content(turns: object, shown: str) -> None:
    event = fed(erased=True, payload={"outputs": {"turn_count": 2}, "inputs": {"turns": turns}})
    assert event_row(event)[2] == shown
