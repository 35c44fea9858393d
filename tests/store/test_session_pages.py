"""Pages of sessions: none is skipped and none comes twice, whatever becomes active in between (CONTRACT 10, H31)."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.urls import open_store
from tests.store.surface import SESSION, Surface, payload, turn


def at(minute: int) -> str:
    return f"2026-03-02T{minute // 60:02}:{minute % 60:02}:00Z"


def session(number: int) -> str:
    return f"5e550000-0000-4000-8000-{number:012x}"


def fill(surface: Surface, count: int, minutes: Any = lambda number: number) -> None:
    for number in range(count):
        context = {"user_id": "anna", "tags": ["t"]}
        surface.capture(payload(turn(1), session=session(number), context=context), timestamp=at(minutes(number)))


def ids(page: dict[str, Any]) -> list[str]:
    return [row["session_id"] for row in page["sessions"]]


def test_a_session_that_becomes_active_before_its_page_is_not_skipped(surface: Surface) -> None:
    fill(surface, 6)
    first = surface.get("/v1/sessions", limit=2)
    assert ids(first) == [session(5), session(4)]
    surface.capture(payload(turn(2), session=session(1)), timestamp=at(100))
    second = surface.get("/v1/sessions", limit=10, cursor=first["next_cursor"])
    assert sorted(ids(second)) == [session(number) for number in (0, 1, 2, 3)]
    assert second["next_cursor"] is None


def test_a_session_that_becomes_active_after_its_page_does_not_come_again(surface: Surface) -> None:
    fill(surface, 6)
    first = surface.get("/v1/sessions", limit=2)
    surface.capture(payload(turn(2), session=session(5)), timestamp=at(100))
    surface.capture(payload(turn(3), session=session(4)), timestamp=at(0))
    second = surface.get("/v1/sessions", limit=10, cursor=first["next_cursor"])
    assert ids(second) == [session(number) for number in (3, 2, 1, 0)]


def test_h31_sessions_of_one_instant_come_once_each(surface: Surface) -> None:
    fill(surface, 7, lambda _: 5)
    first = surface.get("/v1/sessions", limit=3)
    surface.capture(payload(turn(1), session=session(7)), timestamp=at(5))
    rest = surface.sessions(limit=3, cursor=first["next_cursor"])
    seen = [*ids(first), *[row["session_id"] for row in rest]]
    assert sorted(set(seen) - {session(7)}) == [session(number) for number in range(7)]
    assert len(seen) == len(set(seen))


def test_a_session_that_is_erased_between_two_pages_does_not_disturb_them(surface: Surface) -> None:
    fill(surface, 6)
    first = surface.get("/v1/sessions", limit=2)
    surface.erase("session", session(5))
    surface.erase("session", session(2))
    assert ids(surface.get("/v1/sessions", cursor=first["next_cursor"])) == [session(n) for n in (3, 2, 1, 0)]


@pytest.mark.parametrize("query", [{"tag": "t"}, {"user_id": "anna"}, {"q": "t1"}, {"from": at(0)}])
def test_pages_of_a_filtered_list_have_each_once_while_sessions_become_active(
    query: dict[str, str], surface: Surface
) -> None:
    fill(surface, 6)
    seen: list[str] = []
    page: dict[str, Any] = {"next_cursor": None}
    for minute in range(100, 200):
        cursor = {} if page["next_cursor"] is None else {"cursor": page["next_cursor"]}
        page = surface.get("/v1/sessions", limit=1, **query, **cursor)
        seen += ids(page)
        if page["next_cursor"] is None:
            break
        surface.capture(payload(turn(minute), session=session(minute % 6)), timestamp=at(minute))
    assert sorted(seen) == [session(number) for number in range(6)]


def test_a_cursor_belongs_to_its_list(surface: Surface) -> None:
    fill(surface, 3)
    cursor = surface.get("/v1/sessions", limit=1)["next_cursor"]
    for other in ({"tag": "t"}, {"user_id": "anna"}, {"q": "t1"}, {"from": at(0)}, {"conversation_id": SESSION}):
        answer = surface.client.get("/v1/sessions", params={"cursor": cursor, **other})
        assert (answer.status_code, answer.json()["message"]) == (400, "cursor is not one that this list gave")
    for place in range(len(cursor)):
        changed = cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :]
        assert surface.client.get("/v1/sessions", params={"cursor": changed}).status_code == 400
    for path, name in (("/v1/decision-events", "cursor"), ("/events/decisions", "after")):
        assert surface.client.get(path, params={name: cursor}).status_code == 400


steps = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 30)), max_size=6)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(1, 3), st.lists(steps, max_size=8))
def test_whatever_is_appended_between_pages_each_session_of_the_start_comes_once(
    minutes: list[int], limit: int, between: list[list[tuple[int, int]]]
) -> None:
    """Captures at any instant, also earlier ones, of sessions that were there and of new ones."""
    surface = Surface(open_store("sqlite:///:memory:"))
    fill(surface, len(minutes), lambda number: minutes[number])
    seen: list[str] = []
    sent = 100
    page: dict[str, Any] = {"next_cursor": None}
    while not seen or page["next_cursor"] is not None:
        cursor = {} if page["next_cursor"] is None else {"cursor": page["next_cursor"]}
        page = surface.get("/v1/sessions", limit=limit, **cursor)
        seen += ids(page)
        for number, minute in between.pop() if between else ():
            sent += 1
            surface.capture(payload(turn(sent), session=session(number)), timestamp=at(minute))
    surface.close()
    assert len(seen) == len(set(seen))
    assert {session(number) for number in range(len(minutes))} <= set(seen)
