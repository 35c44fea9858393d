"""A walk along a feed yields every event once, and ends whatever the other store answers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.store.feed_walk import FeedWalk
from agent.ruvector.feed import FedEvent, FeedPage


def event(number: int, *, position: int | None = None, kind: str = "conversation_capture") -> FedEvent:
    return FedEvent(json.dumps({"n": number}).encode(), position, f"r-{number}", kind, None)


class Pages:
    """A store that feeds ``pages`` by cursor, and remembers what it was asked for."""

    def __init__(self, pages: dict[str | None, FeedPage]) -> None:
        self.pages = pages
        self.asked: list[tuple[str | None, int, tuple[str, ...]]] = []

    def __call__(self, after: str | None, /, *, limit: int, types: tuple[str, ...]) -> FeedPage:
        assert len(self.asked) < 100, "the walk does not end"
        self.asked.append((after, limit, types))
        return self.pages[after]


def walked(pages: dict[str | None, FeedPage], after: str | None = None, types: tuple[str, ...] = ()):
    walk = FeedWalk(Pages(pages), after, 2, types)
    return [each.execution_ref for each in walk.events()], walk


def test_pages_follow_one_another_by_their_cursors_to_an_empty_one():
    refs, walk = walked(
        {
            None: FeedPage((event(1, position=1), event(2, position=4)), "a"),
            "a": FeedPage((event(3, position=5),), "b"),
            "b": FeedPage((), "b"),
        }
    )
    assert (refs, walk.stuck, walk.cursor) == (["r-1", "r-2", "r-3"], False, "b")


def test_a_page_without_a_cursor_is_the_last():
    refs, walk = walked({None: FeedPage((event(1),), "a"), "a": FeedPage((event(2),), None)})
    assert (refs, walk.stuck, walk.cursor) == (["r-1", "r-2"], False, "a")


def test_a_full_page_that_says_nothing_of_a_cursor_leaves_the_rest_unread():
    refs, walk = walked({None: FeedPage((event(1), event(2)), None, is_open=True)})
    assert (refs, walk.stuck) == (["r-1", "r-2"], True)


def test_a_walk_goes_on_behind_a_cursor():
    refs, walk = walked({"a": FeedPage((event(2, position=9),), "b"), "b": FeedPage((), "b")}, after="a")
    assert (refs, walk.cursor) == (["r-2"], "b")


def test_a_cursor_that_stays_where_it_is_ends_the_walk_after_its_page():
    refs, walk = walked({None: FeedPage((event(1),), "a"), "a": FeedPage((event(2),), "a")})
    assert (refs, walk.stuck) == (["r-1", "r-2"], True)


def test_cursors_in_a_circle_end_the_walk():
    refs, walk = walked({None: FeedPage((event(1),), "a"), "a": FeedPage((event(2),), "b"), "b": FeedPage((), "a")})
    assert (refs, walk.stuck) == (["r-1", "r-2"], False)
    refs, walk = walked(
        {None: FeedPage((event(1),), "a"), "a": FeedPage((event(2),), "b"), "b": FeedPage((event(3),), "a")}
    )
    assert (refs, walk.stuck) == (["r-1", "r-2", "r-3"], True)


@pytest.mark.parametrize("positions", [(1, 2), (None, None)])
def test_a_page_that_was_read_already_ends_the_walk_however_new_its_cursor(positions):
    page = tuple(event(number, position=position) for number, position in enumerate(positions))
    refs, walk = walked({None: FeedPage(page, "a"), "a": FeedPage(page, "b"), "b": FeedPage(page, "c")})
    assert (refs, walk.stuck) == (["r-0", "r-1"], True)


def test_a_page_that_overlaps_the_one_before_it_advances():
    first, second, third = (event(number, position=number) for number in (1, 2, 3))
    refs, walk = walked({None: FeedPage((first, second), "a"), "a": FeedPage((second, third), None)})
    assert (refs, walk.stuck) == (["r-1", "r-2", "r-2", "r-3"], False)


def test_other_types_are_passed_over_where_the_store_feeds_them_all_the_same():
    page = FeedPage((event(1, kind="plan_approved"), event(2), event(3, kind="x")), None)
    pages = Pages({None: page})
    walk = FeedWalk(pages, None, 50, ("plan_approved", "x"))
    assert [each.execution_ref for each in walk.events()] == ["r-1", "r-3"]
    assert pages.asked == [(None, 50, ("plan_approved", "x"))]


def test_the_cursor_moves_when_the_events_before_it_are_dealt_with():
    walk = FeedWalk(Pages({None: FeedPage((event(1), event(2)), "a"), "a": FeedPage((event(3),), None)}), None, 2, ())
    assert [(each.execution_ref, walk.cursor) for each in walk.events()] == [
        ("r-1", None),
        ("r-2", None),
        ("r-3", "a"),
    ]


@given(st.integers(1, 30), st.integers(1, 7), st.booleans(), st.booleans())
def test_an_honest_feed_is_read_whole(count, limit, with_positions, ends_with_null):
    events = [event(number, position=number if with_positions else None) for number in range(count)]
    starts = range(0, count, limit)
    pages: dict[str | None, FeedPage] = {
        str(start) if start else None: FeedPage(tuple(events[start : start + limit]), str(start + limit))
        for start in starts
    }
    last = str(starts[-1] + limit)
    if ends_with_null:
        key = str(starts[-1]) if starts[-1] else None
        pages[key] = FeedPage(pages[key].events, None)
    else:
        pages[last] = FeedPage((), last)
    refs, walk = walked(pages)
    assert refs == [each.execution_ref for each in events]
    assert not walk.stuck


@given(st.data())
def test_a_feed_that_answers_anything_is_walked_to_an_end(data):
    cursors = st.sampled_from([None, "a", "b", "c", "d"])
    events = st.builds(event, st.integers(0, 3), position=st.none() | st.integers(0, 3))
    pages: dict[str | None, FeedPage] = {
        cursor: data.draw(st.builds(FeedPage, st.lists(events, max_size=3).map(tuple), cursors))
        for cursor in (None, "a", "b", "c", "d")
    }
    walked(pages)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple))
def test_a_feed_of_few_events_under_ever_new_cursors_is_walked_to_an_end(numbers):
    asked = []

    def read(after: str | None, /, *, limit: int, types: tuple[str, ...]) -> FeedPage:
        assert len(asked) < 10
        asked.append(after)
        return FeedPage(tuple(event(number) for number in numbers), f"c-{len(asked)}")

    walk = FeedWalk(read, None, 10, ())
    assert len(list(walk.events())) == len(numbers)
    assert walk.stuck
