"""``GET /api/conversations``: which sessions, in which order, and how the list goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agent.errors import RateLimitExceeded, StoreNotFound, StoreWriteError
from agent.ruvector.models import SessionPage, SessionRow
from tests.recall.http.site import CONVERSATION, Site, error_of, payload, said, site, turn_id

ONE = "/api/conversations"


@pytest.fixture
def made() -> Iterator[Site]:
    with site() as made:
        yield made


def fill(made: Site, *numbers: int, **more: Any) -> None:
    """A session for each number, in this order."""
    for number in numbers:
        made.capture(payload(said(1, f"words {number}"), session=turn_id(900 + number), **more))


def numbers(page: Any) -> list[int]:
    return [int(row["session_id"][-3:], 16) - 900 for row in page["sessions"]]


def test_a_row_says_what_a_session_is_known_by(made: Site) -> None:
    turns = (said(1, "Be kind.", "system"), said(2, "Where is it?"), said(3, "Lyon", "assistant"))
    context = {"agent_id": "desk", "user_id": "ada"}
    made.capture(payload(*turns, session="chat 7", context=context, capture_options={"derive_ids": True}))
    answer = made.get(ONE)
    (row,) = answer["sessions"]
    assert (row["native_session_id"], row["query"], row["message_count"]) == ("chat 7", "Where is it?", 3)
    assert row["agents_used"] == ["desk"]
    assert row["created_at"] == row["last_activity"]
    assert {name: answer[name] for name in ("success", "total_sessions", "limit", "offset", "next_cursor")} == {
        "success": True,
        "total_sessions": 1,
        "limit": 50,
        "offset": 0,
        "next_cursor": None,
    }


def test_a_store_without_sessions_has_an_empty_list(made: Site) -> None:
    answer = made.get(ONE)
    assert (answer["sessions"], answer["total_sessions"], answer["next_cursor"]) == ([], 0, None)


def test_the_newest_activity_comes_first_by_offset_and_by_cursor(made: Site) -> None:
    fill(made, *range(1, 8))
    assert numbers(made.get(f"{ONE}?limit=3&offset=3")) == [4, 3, 2]
    first = made.get(f"{ONE}?limit=3")
    assert numbers(first) == [7, 6, 5]
    second = made.get(ONE, query_string={"limit": 3, "cursor": first["next_cursor"]})
    assert numbers(second) == [4, 3, 2]
    # Who walks along the list was told by the first page, and need not wait for a count on each.
    assert (first["total_sessions"], first["offset"], second["limit"]) == (7, 0, 3)
    assert second.keys().isdisjoint({"total_sessions", "offset"})
    third = made.get(ONE, query_string={"limit": 3, "cursor": second["next_cursor"]})
    assert (numbers(third), third["next_cursor"]) == ([1], None)


def test_a_session_that_comes_between_two_pages_moves_no_other(made: Site) -> None:
    # cases.md H31.
    fill(made, *range(1, 8))
    found, cursor = [], None
    while True:
        page = made.get(ONE, query_string={"limit": 3, **({} if cursor is None else {"cursor": cursor})})
        found += numbers(page)
        cursor = page["next_cursor"]
        if cursor is None:
            break
        if len(found) == 3:
            fill(made, 8)
    assert found == [7, 6, 5, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"user_id": "ada"}, [1]),
        ({"agent_id": "desk"}, [2]),
        ({"tag": "vip & co"}, [3]),
        ({"q": "words 2"}, [2]),
        ({"q": "nobody said this"}, []),
        ({"from": "2000-01-01T00:00:00+02:00"}, [3, 2, 1]),
        ({"to": "2000-01-01T00:00:00Z"}, []),
        ({"user_id": "ada", "agent_id": "desk"}, []),
    ],
)
def test_each_filter_finds_its_sessions_and_counts_them(made: Site, query: dict[str, str], expected: list[int]) -> None:
    fill(made, 1, context={"user_id": "ada"})
    fill(made, 2, context={"agent_id": "desk"})
    fill(made, 3, context={"tags": ["vip & co"]})
    answer = made.get(ONE, query_string=query)
    assert (numbers(answer), answer["total_sessions"]) == (expected, len(expected))


def test_a_conversation_of_several_sessions_is_no_filter(made: Site) -> None:
    response = made.ask(f"{ONE}?conversation_id={CONVERSATION}")
    assert response.status_code == 400


class Reads:
    """A store that gives ``pages`` of its sessions, whatever is asked, or raises what stands in place of one."""

    def __init__(self, *pages: SessionPage | Exception) -> None:
        self._pages = list(pages)
        self.asked: list[dict[str, Any]] = []

    def sessions(self, **asked: Any) -> SessionPage:
        self.asked.append({name: value for name, value in asked.items() if value is not None})
        page = self._pages.pop(0)
        if isinstance(page, Exception):
            raise page
        return page


def rows(*numbers: int) -> tuple[SessionRow, ...]:
    at = "2026-03-02T08:15:00Z"
    return tuple(
        SessionRow(session_id=turn_id(900 + n), created_at=at, last_activity=at, turn_count=1, version=n)
        for n in numbers
    )


def asked_of(made: Site, reads: Reads, query: str = "") -> Any:
    return Site(made.client, reads=reads).ask(ONE + query)


def test_a_page_that_the_store_gives_in_parts_is_whole_for_who_counts_on_by_offset(made: Site) -> None:
    reads = Reads(
        SessionPage(sessions=rows(5), next_cursor="x", total=5),
        SessionPage(sessions=rows(4, 3), next_cursor="y"),
    )
    response = asked_of(made, reads, "?limit=3&offset=10&tag=t")
    assert numbers(response.get_json()) == [5, 4, 3]
    assert response.get_json()["next_cursor"] == "y"
    assert reads.asked == [
        {"limit": 3, "offset": 10, "total": True, "tag": "t"},
        {"limit": 2, "cursor": "x", "tag": "t"},
    ]


def test_a_page_by_cursor_does_not_have_the_store_count(made: Site) -> None:
    reads = Reads(SessionPage(sessions=rows(5), next_cursor="x"), SessionPage(sessions=rows(4), next_cursor=None))
    response = asked_of(made, reads, "?limit=2&cursor=c&q=w")
    assert numbers(response.get_json()) == [5, 4]
    assert reads.asked == [
        {"limit": 2, "cursor": "c", "total": False, "q": "w"},
        {"limit": 1, "cursor": "x", "q": "w"},
    ]


def test_a_list_that_ends_early_or_with_an_empty_cursor_has_no_next_page(made: Site) -> None:
    reads = Reads(SessionPage(sessions=rows(5), next_cursor="", total=1))
    assert asked_of(made, reads).get_json()["next_cursor"] is None


def test_pages_that_do_not_advance_are_the_store_s_fault(made: Site) -> None:
    reads = Reads(SessionPage(sessions=(), next_cursor="x", total=1), SessionPage(sessions=(), next_cursor="x"))
    response = asked_of(made, reads)
    assert (response.status_code, error_of(response)["error_code"]) == (502, "RUVECTOR_WRITE_ERROR")


@pytest.mark.parametrize(
    ("fault", "query", "status", "code"),
    [
        (StoreWriteError("m", upstream_status=400), "?cursor=x", 400, "VALIDATION_ERROR"),
        (StoreWriteError("m", upstream_status=400), "", 502, "RUVECTOR_WRITE_ERROR"),
        (StoreWriteError("m", upstream_status=401), "?cursor=x", 502, "RUVECTOR_WRITE_ERROR"),
        (RateLimitExceeded("m", headers={"Retry-After": "3"}), "", 429, "RATE_LIMIT_EXCEEDED"),
        (StoreNotFound("m"), "", 404, "VALIDATION_ERROR"),
    ],
)
def test_what_the_store_says_is_answered_as_whose_fault_it_is(
    made: Site, fault: Exception, query: str, status: int, code: str
) -> None:
    response = asked_of(made, Reads(fault), query)
    assert (response.status_code, error_of(response)["error_code"]) == (status, code)
    assert response.headers.get("Retry-After") == ("3" if status == 429 else None)
