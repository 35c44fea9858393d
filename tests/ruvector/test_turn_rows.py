"""Turns read without a model between: strict in what the store says, and what a writer said as it came."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agent.core.canonical import canonical
from agent.core.turn import SessionTurn
from agent.errors import NewerContract
from agent.ruvector.models import TurnPage
from agent.ruvector.turn_rows import read_turn_rows
from tests.strategies import json_values

ROW = {
    "turn_id": "1D6C2F8B-5a4e-4b3c-8f9d-8e7a6b5c4d32",
    "seq": 3,
    "parent_turn_id": "2D6C2F8B-5a4e-4b3c-8f9d-8e7a6b5c4d32",
    "conversation_id": "B8f2d4c6-1a3e-4f59-8c7d-2e4b6a8c0d13",
    "captured_at": "2026-03-02T08:15:00Z",
    "version": 7,
    "execution_ref": "r",
    "revisions": 2,
    "erased": False,
    "role": "user",
    "content": "words",
    "timestamp": "2026-03-02T08:15:00Z",
}
NEEDED = ("turn_id", "seq", "conversation_id")


def page(*rows: Any) -> bytes:
    return json.dumps({"session_id": "s", "turns": rows}).encode()


def read(*rows: Any) -> tuple[SessionTurn, ...]:
    return read_turn_rows(page(*rows), limit=1000).turns


def test_a_turn_has_its_ids_in_lower_case_and_its_members_as_they_came() -> None:
    row = {**ROW, "metadata": {"x": [10**30, 1.5, None, "Zoe\u0308\u0000"]}, "x_unknown": {"deep": True}}
    [turn] = read(row)
    assert (turn.turn_id, turn.seq, turn.version) == (ROW["turn_id"].lower(), 3, 7)
    assert (turn.parent_turn_id, turn.conversation_id) == (
        ROW["parent_turn_id"].lower(),
        ROW["conversation_id"].lower(),
    )
    assert (turn.role, turn.content, turn.erased) == ("user", "words", False)
    assert turn.fields == row


def test_a_page_says_how_many_bytes_it_was() -> None:
    body = page(ROW, ROW)
    rows = read_turn_rows(body, limit=1000)
    assert (len(rows.turns), rows.size) == (2, len(body))


@pytest.mark.parametrize("name", [name for name in ROW if name not in NEEDED])
def test_a_member_that_is_not_needed_may_be_absent(name: str) -> None:
    [turn] = read({member: value for member, value in ROW.items() if member != name})
    assert name not in turn.fields


def test_what_is_absent_is_nothing_and_an_erased_turn_has_no_content() -> None:
    [turn] = read({name: ROW[name] for name in NEEDED})
    assert (turn.parent_turn_id, turn.role, turn.content, turn.erased, turn.version) == (None, "", None, False, 0)
    [erased] = read({**ROW, "erased": True})
    assert (erased.content, erased.erased) == (None, True)


@pytest.mark.parametrize("name", NEEDED)
def test_a_turn_without_its_place_is_none(name: str) -> None:
    with pytest.raises(ValueError, match="no turn"):
        read({member: value for member, value in ROW.items() if member != name})


@given(st.sampled_from(sorted(ROW)), json_values)
def test_what_a_model_would_refuse_is_refused_and_nothing_else(name: str, value: Any) -> None:
    row = {**ROW, name: value}
    try:
        TurnPage.model_validate({"turns": [row]})
    except ValidationError:
        with pytest.raises(ValueError, match="no turn"):
            read(row)
    else:
        assert len(read(row)) == 1


WRITTEN = ("role", "content", "timestamp")


@given(st.sampled_from(WRITTEN), json_values)
def test_what_a_writer_said_is_never_a_reason_to_refuse_a_turn_and_stays_in_its_members(name: str, value: Any) -> None:
    row = {**ROW, name: value}
    [turn] = read(row)
    assert turn.fields == row
    is_text = isinstance(value, str)
    assert turn.role == (value if name == "role" and is_text else "" if name == "role" else "user")
    assert turn.timestamp == (ROW["timestamp"] if name != "timestamp" else value if is_text else None)
    if name != "content":
        assert turn.content == "words"
    elif value is None or is_text:
        assert turn.content == value
    else:
        assert turn.content == canonical(value).decode()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "Zo\u00eb"}], '[{"text":"Zo\u00eb","type":"text"}]'),
        ({"b": 1.50, "a": 10**30}, '{"a":1000000000000000000000000000000,"b":1.5}'),
        (7, "7"),
        (False, "false"),
        ([], "[]"),
    ],
)
def test_a_content_that_is_no_string_is_its_json_text(content: Any, text: str) -> None:
    [turn] = read({**ROW, "content": content})
    assert turn.content == text
    [erased] = read({**ROW, "content": content, "erased": True})
    assert erased.content is None


def test_an_event_is_named_in_lower_case_where_it_is_a_uuid() -> None:
    [upper, any_text] = read({**ROW, "execution_ref": ROW["turn_id"]}, {**ROW, "execution_ref": "Run-A"})
    assert upper.fields["execution_ref"] == ROW["turn_id"].lower()
    assert any_text.fields["execution_ref"] == "Run-A"


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b'{"turns":{}}', b'{"turns":[1]}', b'{"turns":[null]}', b'{"turns":[]', b'{"turns":NaN}'],
)
def test_what_is_no_page_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the parser's own, which quotes what it could not read
        read_turn_rows(body, limit=1000)


def test_a_turn_of_a_newer_contract_is_refused_and_one_of_an_older_is_read() -> None:
    [turn] = read({**ROW, "agent_version": "0.3.0"})
    assert turn.content == "words"
    with pytest.raises(NewerContract):
        read(ROW, {**ROW, "agent_version": "2.0.0"})
