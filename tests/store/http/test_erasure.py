"""Erasure, export and audit (CONTRACT 10a)."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import DatabaseLocked, StoreAnswerError
from store.port import Actor
from tests.store.http.site import ABSENT, ANY_TEXT, NOW, SESSION, TURN, Site, segment

EMBEDDED = Actor("embedded", NOW)
AT = "2026-05-04T07:30:06.000000Z"
FIRST_PIECE = b'{"user_id":"u-1","exported_at":"2026-05-04T07:30:06.000000Z"'


@pytest.mark.parametrize("session", [SESSION, SESSION.upper()])
def test_erasing_a_session_gives_a_receipt(session: str, full: Site) -> None:
    answer = full.client.delete(f"/v1/sessions/{session}")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "erased",
        "kind": "session",
        "position": 9,
        "sessions": 1,
        "turns": 2,
        "events": 1,
        "at": AT,
        "key_name": "embedded",
        "files": "rewritten",
    }
    assert full.last_call("erase_session").argument == (bytes.fromhex(SESSION.replace("-", "")), EMBEDDED)


def test_erasing_a_turn_gives_a_receipt(full: Site) -> None:
    answer = full.client.delete(f"/v1/turns/{TURN.upper()}")
    assert (answer.status_code, answer.json()["kind"], answer.json()["files"]) == (200, "turn", "pending")
    assert full.last_call("erase_turn").argument == (bytes.fromhex(TURN.replace("-", "")), EMBEDDED)


@pytest.mark.parametrize("user", ["u-1", *ANY_TEXT])
def test_a_user_of_any_name_is_erased_and_exported(user: str, full: Site) -> None:
    answer = full.client.delete(f"/v1/users/{segment(user)}")
    assert (answer.status_code, answer.json()["kind"]) == (200, "user")
    assert full.last_call("erase_user").argument == (user, EMBEDDED)
    nothing: dict[str, Any] = {"events": [], "turns": [], "sessions": []}
    assert full.json(f"/v1/users/{segment(user)}/export") == {"user_id": user, "exported_at": AT, **nothing}
    assert full.last_call("export_user").argument == (user, EMBEDDED)


@given(st.text(min_size=1))
def test_whatever_a_user_is_called_the_store_is_asked_for_it(user: str) -> None:
    site = Site()
    assert site.client.delete(f"/v1/users/{segment(user)}").status_code == 404
    assert site.last_call("erase_user").argument == (user, EMBEDDED)
    assert site.get(f"/v1/users/{segment(user)}/export").status_code == 404
    assert site.last_call("export_user").argument == (user, EMBEDDED)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (f"/v1/sessions/{ABSENT}", "no session has this id"),
        ("/v1/sessions/abc", "no session has this id"),
        (f"/v1/turns/{ABSENT}", "no turn has this id"),
        ("/v1/turns/abc", "no turn has this id"),
        ("/v1/users/absent", "no user has this id"),
        ("/v1/users/", "there is no such path"),
        ("/v1/turns/", "there is no such path"),
        (f"/v1/turns/{TURN}/x", "there is no such path"),
    ],
)
def test_what_is_not_there_cannot_be_erased(path: str, message: str, full: Site) -> None:
    answer = full.client.delete(path)
    assert (answer.status_code, answer.json()) == (404, {"error": "not_found", "message": message})


def test_a_name_that_is_no_text_erases_nobody(full: Site) -> None:
    # As latin-1 it would be a user who is there.
    full.store.users.add("ÿ")
    status, _, _ = full.raw("DELETE", b"/v1/users/\xff")
    assert status == 404
    assert not [call for call in full.store.calls if call.method == "erase_user"]


def test_an_export_is_sent_piece_by_piece_without_a_length(full: Site) -> None:
    status, headers, pieces = full.start({"REQUEST_METHOD": "GET", "PATH_INFO": "/v1/users/u-1/export"})
    assert (status, headers) == (200, {"Content-Type": "application/json"})
    assert list(pieces) == [FIRST_PIECE, b',"events":[],"turns":[],"sessions":[', b"]}"]


def test_an_export_that_nobody_reads_on_lets_go_of_the_store(full: Site) -> None:
    for read in (0, 1):
        _, _, pieces = full.start({"REQUEST_METHOD": "GET", "PATH_INFO": "/v1/users/u-1/export"})
        for _ in range(read):
            next(iter(pieces))
        assert full.store.exports_closed == read
        pieces.close()  # type: ignore[attr-defined]  # the host asks for it and calls it (PEP 3333)
        assert full.store.exports_closed == read + 1


def test_the_head_of_an_export_has_no_content_and_lets_go_of_the_store(full: Site) -> None:
    answer = full.client.head("/v1/users/u-1/export")
    assert (answer.status_code, answer.content, full.store.exports_closed) == (200, b"", 1)
    assert "content-length" not in answer.headers


@pytest.mark.parametrize("error", [KeyError("SECRET-71b"), DatabaseLocked("the database is locked")])
def test_an_export_that_fails_in_the_middle_is_cut_and_logged(
    error: Exception, full: Site, caplog: pytest.LogCaptureFixture
) -> None:
    full.store.breaks_off = error
    status, _, pieces = full.start({"REQUEST_METHOD": "GET", "PATH_INFO": "/v1/users/u-1/export"})
    sending = iter(pieces)
    assert (status, next(sending)) == (200, FIRST_PIECE)
    with caplog.at_level(logging.WARNING, logger="store"), pytest.raises(StoreAnswerError) as raised:
        next(sending)
    assert "SECRET" not in str(raised.value) + caplog.text
    assert raised.value.__suppress_context__
    assert f"an answer broke off: {type(error).__name__}" in caplog.text


def test_an_export_that_fails_before_its_first_piece_is_an_answer(full: Site) -> None:
    full.store.faults["export_user"] = DatabaseLocked("the database is locked")
    answer = full.get("/v1/users/u-1/export")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


def test_the_audit_pages_by_number(full: Site) -> None:
    first = full.json("/v1/audit", limit=3)
    assert first == {"audit": full.store.audit_rows[:3], "next_after": 3}
    second = full.json("/v1/audit", limit=3, after=first["next_after"])
    assert second == {"audit": full.store.audit_rows[3:], "next_after": None}
    full.json("/v1/audit")
    assert full.last_call("audit").argument == (0, 100)


@pytest.mark.parametrize("name", ["after", "limit"])
def test_a_page_of_the_audit_has_bounds(name: str, full: Site) -> None:
    answer = full.get("/v1/audit", **{name: "x"})
    assert answer.status_code == 400
    assert answer.json()["message"].startswith(f"{name} must be a whole number from ")
