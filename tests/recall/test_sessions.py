"""Sessions page by page: nothing skipped, nothing twice, and a limit that says whether it cut the list off."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import AgentError, StoreConnectionError, StoreNotFound, StoreWriteError
from agent.recall.sessions import PAGE, Sessions
from agent.ruvector.models import SessionPage


def page(*numbers: int, **members: Any) -> SessionPage:
    """A page of these sessions; ``next_cursor`` is absent unless it is given."""
    times = {"created_at": "2026-03-02T08:15:00Z", "last_activity": "2026-03-02T08:15:00Z"}
    rows = [{"session_id": str(number), "turn_count": 1, "version": 1, **times} for number in numbers]
    return SessionPage.model_validate({"sessions": rows, **members})


class Scripted:
    """Reads that answer one after the other, or raise; ``asked`` are the questions."""

    def __init__(self, *answers: SessionPage | AgentError) -> None:
        self._answers = iter(answers)
        self.asked: list[dict[str, Any]] = []

    def sessions(self, **query: Any) -> SessionPage:
        self.asked.append(query)
        answer = next(self._answers)
        if isinstance(answer, AgentError):
            raise answer
        return answer


class Paging:
    """``count`` sessions in pages of these sizes, over and over, as far as the limit allows."""

    def __init__(self, count: int, sizes: list[int]) -> None:
        self._count = count
        self._sizes = sizes
        self._asked = 0

    def sessions(self, *, limit: int, cursor: str | None) -> SessionPage:
        size = min(limit, self._sizes[self._asked % len(self._sizes)])
        self._asked += 1
        start = int(cursor or 0)
        end = min(start + size, self._count)
        return page(*range(start, end), next_cursor=str(end) if end < self._count else None)


def walk(reads: Any, limit: int = 10_000, **which: Any) -> Sessions:
    return Sessions(reads, limit=limit, **which)


def ids(found: Sessions) -> list[int]:
    return [int(each.session_id) for each in found]


def test_pages_are_read_one_after_the_other_with_the_same_filters() -> None:
    reads = Scripted(page(1, 2, next_cursor="a"), page(next_cursor="b"), page(4, next_cursor=None))
    found = walk(reads, q="words", tag="t")
    assert ids(found) == [1, 2, 4]
    assert found.more is False
    assert reads.asked == [{"limit": PAGE, "cursor": cursor, "q": "words", "tag": "t"} for cursor in (None, "a", "b")]


def test_a_page_is_asked_for_when_the_one_before_it_was_used() -> None:
    reads = Scripted(page(1, 2, next_cursor="a"), page(3, next_cursor=None))
    found = walk(reads)
    next(found)
    next(found)
    assert len(reads.asked) == 1
    next(found)
    assert len(reads.asked) == 2


@given(st.integers(0, 50), st.lists(st.integers(1, 9), min_size=1), st.integers(1, 60))
def test_however_a_store_pages_every_session_comes_once_in_order(count: int, sizes: list[int], limit: int) -> None:
    found = walk(Paging(count, sizes), limit)
    assert ids(found) == list(range(min(limit, count)))
    assert found.more is (limit < count)


def test_a_store_that_gives_more_than_was_asked_for_is_cut_and_has_more() -> None:
    reads = Scripted(page(1, 2, 3, next_cursor=None))
    found = walk(reads, 2)
    assert (ids(found), found.more, reads.asked[0]["limit"]) == ([1, 2], True, 2)


@pytest.mark.parametrize(("limit", "more"), [(2, None), (3, False)])
def test_a_store_that_does_not_say_whether_more_follows_is_not_guessed_at(limit: int, more: bool | None) -> None:
    found = walk(Scripted(page(1, 2)), limit)
    assert (ids(found), found.more) == ([1, 2], more)


def test_an_empty_cursor_is_the_end() -> None:
    found = walk(Scripted(page(1, next_cursor="")))
    assert (ids(found), found.more) == ([1], False)


def test_a_cursor_that_comes_again_ends_the_walk_with_an_error_and_not_never() -> None:
    found = walk(Scripted(page(1, next_cursor="a"), page(1, next_cursor="a")))
    with pytest.raises(StoreWriteError, match="do not advance"):
        ids(found)


def test_a_store_without_a_list_says_so_and_other_failures_are_raised_as_they_are() -> None:
    with pytest.raises(StoreNotFound, match="this store has no list of sessions"):
        next(walk(Scripted(StoreNotFound("404"))))
    found = walk(Scripted(page(1, next_cursor="a"), StoreConnectionError("down")))
    assert next(found).session_id == "1"
    with pytest.raises(StoreConnectionError):
        next(found)


def test_the_memory_does_not_grow_with_the_list() -> None:
    peaks = []
    for count in (1_000, 20_000):
        found = walk(Paging(count, [PAGE]), count)
        tracemalloc.start()
        assert sum(1 for _ in found) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
