"""Sessions, their turns, and counts (CONTRACT 10)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.port import SessionsCursor, SessionsQuery, TurnsQuery
from tests.store.http.site import ABSENT, CONVERSATION, SESSION, Site, session_row, turn_row

PATH = "/v1/sessions"
KEY = bytes.fromhex(SESSION.replace("-", ""))
FILTERS = {
    "user_id": "u",
    "agent_id": "a",
    "tag": "t",
    "conversation_id": CONVERSATION,
    "q": "late bus",
    "from": "2026-01-01T00:00:00Z",
    "to": "2027-01-01T00:00:00Z",
}


def test_every_filter_reaches_the_store(site: Site) -> None:
    assert site.json(PATH, **FILTERS, limit=7, offset=3, total="true") == {
        "sessions": [],
        "next_cursor": None,
        "total": 0,
    }
    assert site.last_call("sessions").argument == SessionsQuery(
        user_id="u",
        agent_id="a",
        tag="t",
        conversation_id=bytes.fromhex(CONVERSATION.replace("-", "")),
        q="late bus",
        from_us=1767225600_000_000,
        to_us=1798761600_000_000,
        limit=7,
        offset=3,
        total=True,
    )


def test_without_a_query_a_page_has_a_hundred_and_no_total(full: Site) -> None:
    page = full.json(PATH)
    assert page == {"sessions": full.store.session_rows, "next_cursor": None}
    assert full.last_call("sessions").argument == SessionsQuery()
    assert full.json(PATH, total="false") == page


def test_a_total_is_counted_where_it_is_asked_for(full: Site) -> None:
    assert full.json(PATH, total="true", limit=1)["total"] == 6


def test_pages_go_on_by_cursor_and_by_offset(full: Site) -> None:
    first = full.json(PATH, limit=4)
    assert first["sessions"] == full.store.session_rows[:4]
    second = full.json(PATH, limit=4, cursor=first["next_cursor"])
    assert second == {"sessions": full.store.session_rows[4:], "next_cursor": None}
    assert full.last_call("sessions").argument.after == SessionsCursor(7, 0, 4)
    assert full.json(PATH, limit=4, offset=4) == second
    middle = full.json(PATH, limit=1, offset=2)
    assert full.json(PATH, limit=1, cursor=middle["next_cursor"])["sessions"] == full.store.session_rows[3:4]


def test_a_cursor_with_an_offset_is_refused(full: Site) -> None:
    cursor = full.json(PATH, limit=4)["next_cursor"]
    answer = full.get(PATH, cursor=cursor, offset=0)
    assert (answer.status_code, answer.json()["message"]) == (400, "cursor and offset exclude each other")


@pytest.mark.parametrize("name", FILTERS)
def test_a_cursor_goes_on_in_the_list_alone_that_gave_it(name: str, full: Site) -> None:
    cursor = full.json(PATH, limit=4)["next_cursor"]
    answer = full.get(PATH, cursor=cursor, **{name: FILTERS[name]})
    assert (answer.status_code, answer.json()["message"]) == (400, "cursor is not one that this list gave")


@pytest.mark.parametrize("q", ["", " ", "\t\n", "\u3000\u00a0", "x" * 501])
def test_words_of_white_space_alone_or_too_many_are_400(q: str, site: Site) -> None:
    answer = site.get(PATH, q=q)
    message = "q must have 1 to 500 characters, and not white space alone"
    assert (answer.status_code, answer.json()["message"]) == (400, message)


@pytest.mark.parametrize("q", ["\u0000", " a ", "é", "e\u0301", "\U0001f680", '"*()', "x" * 500])
def test_words_in_any_script_reach_the_store_as_they_are(q: str, site: Site) -> None:
    site.json(PATH, q=q)
    assert site.last_call("sessions").argument.q == q


@given(st.dictionaries(st.sampled_from(["user_id", "agent_id", "tag"]), st.text()))
def test_a_name_may_be_any_text(query: dict[str, str]) -> None:
    site = Site()
    assert site.json(PATH, **query)["sessions"] == []
    found = site.last_call("sessions").argument
    assert {name: getattr(found, name) for name in query} == query


def test_text_that_was_not_quoted_is_read_as_utf_8(site: Site) -> None:
    status, _, _ = site.raw("GET", b"/v1/sessions", "q=опоздал".encode())
    assert (status, site.last_call("sessions").argument.q) == (200, "опоздал")


@pytest.mark.parametrize("total", ["", "1", "True", "yes"])
def test_a_flag_is_true_or_false(total: str, site: Site) -> None:
    answer = site.get(PATH, total=total)
    assert (answer.status_code, answer.json()["message"]) == (400, "total must be false or true")


@pytest.mark.parametrize("text", [SESSION, SESSION.upper()])
def test_a_session_is_found_by_its_id_in_any_case(text: str, full: Site) -> None:
    assert full.json(f"{PATH}/{text}") == {**session_row(6), "session_id": SESSION}


@pytest.mark.parametrize("text", [ABSENT, "abc", "turns", "%00", SESSION[:-1], f"{{{SESSION}}}", f"{SESSION}%0A"])
@pytest.mark.parametrize("suffix", ["", "/turns"])
def test_a_session_that_is_not_there_is_404(text: str, suffix: str, full: Site) -> None:
    answer = full.get(f"{PATH}/{text}{suffix}")
    assert (answer.status_code, answer.json()["message"]) == (404, "no session has this id")


def test_turns_come_with_their_sessions_id(full: Site) -> None:
    assert full.json(f"{PATH}/{SESSION.upper()}/turns") == {
        "session_id": SESSION,
        "turns": [turn_row(seq) for seq in (1, 2, 3)],
    }
    assert full.last_call("turns").argument == TurnsQuery(KEY, limit=100)


def test_every_bound_of_turns_reaches_the_store(full: Site) -> None:
    bounds: dict[str, Any] = {"after_seq": 1, "before_seq": 2**63 - 1, "at_seq": 0, "changed_after": 4, "last": 9}
    full.json(f"{PATH}/{SESSION}/turns", **bounds, limit=3, conversation_id=CONVERSATION.upper())
    conversation = bytes.fromhex(CONVERSATION.replace("-", ""))
    assert full.last_call("turns").argument == TurnsQuery(KEY, limit=3, conversation_id=conversation, **bounds)


def test_the_newest_so_many_are_all_on_the_page(full: Site) -> None:
    full.json(f"{PATH}/{SESSION}/turns", last=900)
    assert full.last_call("turns").argument == TurnsQuery(KEY, limit=900, last=900)


def test_counts_of_what_there_is(full: Site) -> None:
    assert full.json("/v1/stats") == {"sessions": 6, "turns": 3, "events": 2, "bytes": 200}
