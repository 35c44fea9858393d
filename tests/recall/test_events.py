"""Events page by page: nothing skipped, nothing twice, and a limit that says whether it cut the list off."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import StoreConnectionError, StoreNotFound, StoreWriteError
from agent.recall.events import PAGE, events
from agent.ruvector.feed import FeedPage
from tests.recall.paging import Scripted, page


def positions(reads: Scripted, **query: object) -> list[int | None]:
    return [each.position for each in events(reads, **query)]


def test_pages_are_read_one_after_the_other_with_the_same_filters() -> None:
    reads = Scripted(page(1, 2, cursor="a"), page(3, cursor="b"), page(4))
    found = events(reads, session_id="s", order="asc")
    assert [each.position for each in found] == [1, 2, 3, 4]
    assert found.more is False
    assert reads.asked == [
        {"limit": PAGE, "cursor": cursor, "session_id": "s", "order": "asc"} for cursor in (None, "a", "b")
    ]


def test_a_page_is_asked_for_when_the_one_before_it_was_used() -> None:
    reads = Scripted(page(1, 2, cursor="a"), page(3))
    found = events(reads)
    next(found)
    next(found)
    assert len(reads.asked) == 1
    next(found)
    assert len(reads.asked) == 2


@pytest.mark.parametrize(
    ("limit", "asked", "more"),
    [(1, [1], True), (2, [2], True), (3, [3, 1], True), (4, [4, 2], False), (9, [9, 7], False)],
)
def test_no_more_is_asked_for_than_is_wanted_and_a_limit_says_whether_it_cut_the_list_off(
    limit: int, asked: list[int], more: bool
) -> None:
    log = [1, 2, 3, 4]
    answers = []
    for wanted in asked:
        taken, log = log[: min(wanted, 2)], log[min(wanted, 2) :]
        answers.append(page(*taken, cursor=f"c{len(log)}" if log else None))
    reads = Scripted(*answers)
    found = events(reads, limit=limit)
    assert [each.position for each in found] == list(range(1, min(limit, 4) + 1))
    assert [query["limit"] for query in reads.asked] == asked
    assert found.more is more


def test_a_store_that_gives_more_than_was_asked_for_is_cut_and_has_more() -> None:
    found = events(Scripted(page(1, 2, 3)), limit=2)
    assert [each.position for each in found] == [1, 2]
    assert found.more is True


def test_a_store_that_does_not_say_whether_more_follows_is_not_guessed_at() -> None:
    found = events(Scripted(page(1, 2, is_open=True)), limit=2)
    assert [each.position for each in found] == [1, 2]
    assert found.more is None


def test_a_limit_of_none_at_all_asks_nothing() -> None:
    assert positions(Scripted(), limit=0) == []


def test_an_empty_page_with_a_cursor_is_not_the_end() -> None:
    assert positions(Scripted(page(1, cursor="a"), page(cursor="b"), page(2))) == [1, 2]


def test_a_cursor_that_comes_again_ends_the_walk_with_an_error_and_not_never() -> None:
    found = events(Scripted(page(1, cursor="a"), page(1, cursor="a")))
    with pytest.raises(StoreWriteError, match="do not advance"):
        list(found)


def test_a_store_without_a_list_says_so_and_other_failures_are_raised_as_they_are() -> None:
    with pytest.raises(StoreNotFound, match="this store has no list of events"):
        list(events(Scripted(StoreNotFound("404"))))
    found = events(Scripted(page(1, cursor="a"), StoreConnectionError("down")))
    assert next(found).position == 1
    with pytest.raises(StoreConnectionError):
        next(found)


@given(st.integers(0, 50), st.lists(st.integers(1, 9), min_size=1), st.none() | st.integers(1, 60))
def test_however_a_store_pages_every_event_comes_once_in_order(count: int, sizes: list[int], limit: int | None) -> None:
    reads = Paging(count, sizes)
    found = events(reads, limit=limit)
    seen = [each.position for each in found]
    assert len(seen) == (count if limit is None else min(count, limit))
    assert all(before + 1 == after for before, after in pairwise(seen))
    assert found.more is (limit is not None and limit < count)


class Paging:
    """A log of ``count`` events in pages of these sizes, over and over, as far as the limit allows."""

    def __init__(self, count: int, sizes: list[int]) -> None:
        self._count = count
        self._sizes = sizes
        self._asked = 0

    def raw_events(self, *, limit: int, cursor: str | None, shown: bool) -> FeedPage:
        assert shown
        size = min(limit, self._sizes[self._asked % len(self._sizes)])
        self._asked += 1
        start = int(cursor or 0)
        end = min(start + size, self._count)
        return page(*range(start, end), cursor=str(end) if end < self._count else None)
