"""``store.upkeep.verify`` on planted damage of turns, sessions and what they are found by."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from store.engines.schema import DEFAULT_TENANT_KEY, event_key, turn_key
from store.lists import labels
from tests.store.filled import session
from tests.store.planted import ENGINES, Planted, planted
from tests.store.surface import turn_id


@pytest.fixture(params=ENGINES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Planted]:
    with planted(request.param, tmp_path) as found:
        yield found


def packed(text: str) -> bytes:
    return bytes.fromhex(text.replace("-", ""))


def session_key(database: Planted, number: int) -> int:
    sql = "SELECT session_key FROM sessions WHERE session_id = ? AND tenant = ?"
    return int(database.one(sql, packed(session(number)), DEFAULT_TENANT_KEY))


def named(found: list[Any]) -> list[tuple[str, str]]:
    return [(finding.kind, finding.subject) for finding in found]


def set_turn(database: Planted, number: int, seq: int, **columns: Any) -> str:
    """Change a turn's row; the turn's name in findings."""
    key = turn_key(session_key(database, number), seq)
    for name, value in columns.items():
        database.raw(f"UPDATE turns SET {name} = ? WHERE turn_key = ?", value, key)
    turn = database.one("SELECT turn_id FROM turns WHERE turn_key = ?", key).hex()
    name = f"{turn[:8]}-{turn[8:12]}-{turn[12:16]}-{turn[16:20]}-{turn[20:]}"
    return f"turn {name} of session {session(number)}"


def test_a_lost_turn_is_found_and_nothing_else(database: Planted) -> None:
    database.raw("DELETE FROM turns WHERE turn_key = ?", turn_key(session_key(database, 300), 12))
    _, found = database.verify()
    assert named(found) == [("lost_turn", f"turn {turn_id(12)} of session {session(300)}")]


def test_a_lost_turn_that_is_a_parent_is_named_before_what_follows(database: Planted) -> None:
    database.raw("DELETE FROM turns WHERE turn_key = ?", turn_key(session_key(database, 300), 5))
    _, found = database.verify()
    child = f"turn {turn_id(6)} of session {session(300)}"
    assert named(found) == [("lost_turn", f"turn {turn_id(5)} of session {session(300)}"), ("wrong_turn", child)]
    assert found[1].detail == "its parent is not there, and nothing waits for it"


def test_all_turns_of_a_session_lost_are_each_named(database: Planted) -> None:
    key = session_key(database, 300)
    database.raw("DELETE FROM turns WHERE session_key = ?", key)
    _, found = database.verify()
    kinds = [finding for finding in found if finding.kind == "lost_turn"]
    assert [finding.subject for finding in kinds] == [
        f"turn {turn_id(n)} of session {session(300)}" for n in range(1, 13)
    ]


def test_a_turn_that_was_lost_with_its_event_is_told_by_its_seq(database: Planted) -> None:
    key = session_key(database, 201)
    position = database.one("SELECT first_position FROM turns WHERE turn_key = ?", turn_key(key, 1))
    database.raw("DELETE FROM events WHERE event_key = ?", event_key(DEFAULT_TENANT_KEY, position))
    database.raw("DELETE FROM turns WHERE session_key = ?", key)
    _, found = database.verify()
    assert named(found)[:2] == [("lost_position", f"position {position}"), ("lost_turn", f"session {session(201)}")]
    assert found[1].detail == "it has no turn of seq 1"


TURN_COLUMNS: dict[str, Any] = {
    "conversation_id": bytes(16),
    "parent_turn_id": packed(turn_id(3)),
    "waits_for": bytes(16),
    "names_leaf": bytes(16),
    "first_position": 7,
    "revision_position": 7,
    "version": 99,
    "narrowness": 1,
    "body_sha256": bytes(32),
    "lower_case": 0,
    "own_index": 1,
    "is_user": 0,
    "instant_us": 7,
    "tokens": 7,
    "erased": 1,
    "tenant": 2,
}


@pytest.mark.parametrize("column", TURN_COLUMNS)
def test_a_turn_that_says_what_no_event_says_is_named(column: str, database: Planted) -> None:
    name = set_turn(database, 300, 1, **{column: TURN_COLUMNS[column]})
    _, found = database.verify()
    assert ("wrong_turn", name) in named(found)
    assert all(session(300) in finding.subject for finding in found)


def test_a_revision_that_a_row_does_not_know_is_found(database: Planted) -> None:
    key = turn_key(session_key(database, 100), 2)
    first = database.one("SELECT first_position FROM turns WHERE turn_key = ?", key)
    name = set_turn(database, 100, 2, revision_position=first, own_index=1, version=first, body=None)
    _, found = database.verify()
    assert ("wrong_turn", name) in named(found)
    assert any(finding.detail.endswith(": revision_position") for finding in found)


def test_more_revisions_than_came_are_found(database: Planted) -> None:
    set_turn(database, 100, 2, revisions=5)
    _, found = database.verify()
    assert [(finding.subject, finding.detail) for finding in found] == [
        (f"session {session(100)}", "its turns have more or fewer revisions than came")
    ]


def test_a_kept_body_that_is_not_the_revision_is_found(database: Planted) -> None:
    key = turn_key(session_key(database, 100), 2)
    body = database.one("SELECT body FROM turns WHERE turn_key = ?", key)
    name = set_turn(database, 100, 2, body=body.replace(b"the rest", b"no rest"))
    _, found = database.verify()
    assert named(found) == [("wrong_turn", name)]
    assert found[0].detail.endswith(": body")


def test_a_row_of_a_turn_that_nobody_sent_is_found(database: Planted) -> None:
    key = session_key(database, 300)
    columns = (
        "session_key, tenant, conversation_id, parent_turn_id, is_leaf, first_position, revision_position, version"
    )
    columns += ", revisions, narrowness, body_sha256, lower_case, own_index, is_user, erased"
    database.raw(
        f"INSERT INTO turns (turn_key, seq, turn_id, {columns}) SELECT turn_key + 1, seq + 1, ?, {columns} FROM turns"
        " WHERE turn_key = ?",
        packed(turn_id(99)),
        turn_key(key, 12),
    )
    _, found = database.verify()
    assert ("wrong_turn", f"turn {turn_id(99)} of session {session(300)}") in named(found)


@pytest.mark.parametrize("seq", [1, 12])
def test_a_leaf_that_is_none_is_found(seq: int, database: Planted) -> None:
    is_leaf = database.one("SELECT is_leaf FROM turns WHERE turn_key = ?", turn_key(session_key(database, 300), seq))
    set_turn(database, 300, seq, is_leaf=1 - is_leaf)
    _, found = database.verify()
    assert f"session {session(300)}" in [finding.subject for finding in found]


def test_an_awaited_parent_that_is_lost_or_came_is_found(database: Planted) -> None:
    rows = database.raw("SELECT session_key, turn_id, conversation_id FROM awaited_parents")
    assert (session_key(database, 100), packed(turn_id(99))) in [row[:2] for row in rows]
    database.raw("DELETE FROM awaited_parents")
    _, lost = database.verify()
    assert {finding.detail for finding in lost} == {"its parent is not there, and nothing waits for it"}
    conversation = rows[0][2]
    for turn, where in ((packed(turn_id(1)), session_key(database, 200)), *((row[1], row[0]) for row in rows)):
        database.raw(
            "INSERT INTO awaited_parents (tenant, session_key, turn_id, conversation_id) VALUES (1, ?, ?, ?)",
            where,
            turn,
            conversation,
        )
    _, came = database.verify()
    assert named(came) == [("wrong_turn", f"turn {turn_id(1)} of session {session(200)}")]


def test_a_lost_tombstone_is_found(database: Planted) -> None:
    database.raw("DELETE FROM tombstones WHERE turn_id = ?", packed(turn_id(51)))
    _, found = database.verify()
    assert named(found) == [("wrong_turn", f"turn {turn_id(51)} of session {session(402)}")]


def test_a_lost_session_is_found_and_nothing_else(database: Planted) -> None:
    database.raw("DELETE FROM sessions WHERE session_key = ?", session_key(database, 300))
    _, found = database.verify()
    assert named(found) == [("lost_session", f"session {session(300)}")]


def test_a_lost_session_without_turns_is_found_by_its_events(database: Planted) -> None:
    database.raw("DELETE FROM sessions WHERE session_id = ? AND tenant = ?", packed(session(101)), DEFAULT_TENANT_KEY)
    _, found = database.verify()
    assert named(found) == [("lost_session", f"session {session(101)}")]


SESSION_COLUMNS: dict[str, Any] = {
    "native_session_id": b"another",
    "last_seq": 11,
    "version": 3,
    "created_us": 7,
    "activity_us": 7,
    "first_turn_us": 7,
    "last_turn_us": 7,
    "total_tokens": b"7",
    "first_user_seq": 3,
    "first_user_content": b"another",
    "agents": b"[]",
    "users": b'["mallory"]',
    "tags": b'["x"]',
    "erased": 1,
}


@pytest.mark.parametrize("column", SESSION_COLUMNS)
def test_a_session_that_says_what_no_event_says_is_named_with_the_column(column: str, database: Planted) -> None:
    key = session_key(database, 300)
    database.raw(f"UPDATE sessions SET {column} = ? WHERE session_key = ?", SESSION_COLUMNS[column], key)
    _, found = database.verify()
    assert named(found)[0] == ("wrong_session", f"session {session(300)}")
    assert column in found[0].detail
    assert all(session(300) in finding.subject for finding in found)


def test_a_session_that_names_more_turns_than_there_are_is_found(database: Planted) -> None:
    database.raw("UPDATE sessions SET last_seq = ? WHERE session_key = ?", 2**27, session_key(database, 300))
    _, found = database.verify()
    assert named(found) == [("lost_turn", f"session {session(300)}")]


def test_a_session_under_another_id_is_found_by_its_events(database: Planted) -> None:
    database.raw("UPDATE sessions SET session_id = ? WHERE session_key = ?", bytes(16), session_key(database, 201))
    _, found = database.verify()
    assert len(found) == 1
    assert found[0].detail == "its row says something else than its body: session_key"


KINDS = {labels.USER: "user", labels.AGENT: "agent", labels.TAG: "tag", labels.CONVERSATION: "conversation"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_lost_label_is_found(kind: int, database: Planted) -> None:
    sql = "SELECT min(session_key) FROM labels WHERE kind = ? AND tenant = ?"
    key = database.one(sql, kind, DEFAULT_TENANT_KEY)
    database.raw("DELETE FROM labels WHERE kind = ? AND session_key = ?", kind, key)
    _, found = database.verify()
    assert {finding.kind for finding in found} == {"lost_label"}
    assert {finding.detail for finding in found} == {f"it is not listed by a {KINDS[kind]} of its"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_label_that_its_session_does_not_have_is_found(kind: int, database: Planted) -> None:
    key = session_key(database, 300)
    sql = "INSERT INTO labels (tenant, kind, value, session_key) VALUES (1, ?, ?, ?)"
    database.raw(sql, kind, bytes(16), key)
    database.raw(sql, kind, bytes(16), 12345)
    _, found = database.verify()
    assert named(found) == [
        ("surplus_label", f"session {session(300)}"),
        ("surplus_label", "session number 12345"),
    ]


def test_a_lost_tenant_is_found_before_what_it_was_found_by(database: Planted) -> None:
    database.raw("DELETE FROM tenants WHERE tenant = 2")
    _, found = database.verify()
    assert named(found)[0] == ("lost_tenant", "tenant number 2")
    assert {finding.kind for finding in found[1:]} == {"lost_key"}


def test_no_finding_says_what_anybody_wrote(database: Planted) -> None:
    for table in ("sessions", "event_keys", "labels", "tombstones"):
        database.raw(f"DELETE FROM {table}")
    _, found = database.verify()
    text = repr(found)
    assert len(found) > 50
    for word in ("anna", "shop", "parcel", "Hello", "secret", "call_7"):
        assert word not in text
