"""The feed followed: what comes late, comes twice or does not come, with waits that take no time."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import (
    AgentError,
    RateLimitExceeded,
    StoreConnectionError,
    StoreDamaged,
    StoreNotFound,
    StoreWriteError,
)
from agent.recall.follow import LONGEST_WAIT_S, Follow
from agent.ruvector.feed import FeedPage
from tests.recall.paging import Scripted, page

DOWN = StoreConnectionError("down")


class Listener:
    """Who follows: what was waited for, and what was said."""

    def __init__(self, reads: Scripted, *, after: int = 0, interval: float = 1.0) -> None:
        self.waited: list[float] = []
        self.said: list[str] = []
        self.follow = Follow(
            reads,
            after=after,
            interval=interval,
            sleep=self.waited.append,
            away=lambda error: self.said.append(f"away: {error.message}"),
            back=lambda: self.said.append("back"),
        )

    def positions(self, count: int) -> list[int | None]:
        return [each.position for each in islice(self.follow.events(), count)]


def test_events_come_in_order_and_where_nothing_is_new_it_waits() -> None:
    reads = Scripted(page(4, 5, cursor="a"), page(cursor="a"), page(cursor="a"), page(6, cursor="b"))
    listener = Listener(reads, after=3, interval=0.5)
    assert listener.positions(3) == [4, 5, 6]
    assert [query["after"] for query in reads.asked] == ["3", "a", "a", "a"]
    assert (listener.waited, listener.said) == ([0.5, 0.5], [])


def test_a_store_that_names_no_cursor_is_asked_by_position() -> None:
    reads = Scripted(page(), page(7), page(8))
    assert Listener(reads, after=6).positions(2) == [7, 8]
    assert [query["after"] for query in reads.asked] == ["6", "6", "7"]


def test_a_store_that_repeats_itself_is_neither_believed_nor_asked_without_a_pause() -> None:
    listener = Listener(Scripted(page(1, 2, cursor="a"), page(1, 2, cursor="a"), page(2, 3, cursor="a")))
    assert listener.positions(3) == [1, 2, 3]
    assert listener.waited == [1.0]


def test_a_store_that_is_away_is_told_once_and_waited_for_longer_each_time() -> None:
    reads = Scripted(page(1, cursor="a"), *[DOWN] * 8, page(2, cursor="b"), DOWN, page(3, cursor="c"))
    listener = Listener(reads)
    assert listener.positions(3) == [1, 2, 3]
    assert listener.said == ["away: down", "back", "away: down", "back"]
    assert listener.waited == [2.0, 4.0, 8.0, 16.0, *[LONGEST_WAIT_S] * 4, 2.0]
    assert {query["after"] for query in reads.asked[1:10]} == {"a"}


def test_an_event_that_the_store_cannot_read_is_not_waited_for() -> None:
    damaged = StoreDamaged("damaged_event", upstream_status=500, position=2)
    listener = Listener(Scripted(page(1, cursor="a"), damaged))
    with pytest.raises(StoreDamaged):
        listener.positions(2)
    assert (listener.waited, listener.said) == ([], [])


def test_an_interval_beyond_the_bound_is_kept_and_a_long_absence_overflows_nothing() -> None:
    listener = Listener(Scripted(*[DOWN] * 3000, page(1)), interval=100.0)
    assert listener.positions(1) == [1]
    assert set(listener.waited) == {100.0}


def test_a_store_that_says_when_to_come_again_is_believed() -> None:
    limited = RateLimitExceeded("slow", headers={"Retry-After": "77"})
    listener = Listener(Scripted(limited, limited, page(1)))
    assert listener.positions(1) == [1]
    assert listener.waited == [77.0, 77.0]


@pytest.mark.parametrize("status", [200, 302, 500, 501])
def test_an_answer_that_may_be_another_s_passes_by_waiting(status: int) -> None:
    listener = Listener(Scripted(StoreWriteError("a page of a proxy", upstream_status=status), page(1)))
    assert listener.positions(1) == [1]
    assert listener.said == ["away: a page of a proxy", "back"]


@pytest.mark.parametrize("status", [400, 401, 403, 422])
def test_a_question_that_is_refused_ends_it(status: int) -> None:
    listener = Listener(Scripted(StoreWriteError("refused", upstream_status=status)))
    with pytest.raises(StoreWriteError, match="refused"):
        listener.positions(1)
    assert (listener.waited, listener.said) == ([], [])


def test_a_store_without_a_feed_ends_it_but_one_that_had_a_feed_is_waited_for() -> None:
    with pytest.raises(StoreNotFound, match="this store has no feed of events"):
        Listener(Scripted(StoreNotFound("404"))).positions(1)
    listener = Listener(Scripted(page(), StoreNotFound("404"), page(1)))
    assert listener.positions(1) == [1]
    assert listener.said == ["away: 404", "back"]


def test_events_without_a_position_cannot_be_followed() -> None:
    with pytest.raises(StoreWriteError, match="have no position"):
        Listener(Scripted(page(None))).positions(1)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30), st.integers(0, 5))
def test_whatever_is_committed_and_whenever_the_store_is_away_every_event_comes_once(
    rounds: list[tuple[int, int]], after: int
) -> None:
    """Each question finds ``n`` events more, and then the store is away ``m`` times."""
    committed = after
    answers: list[FeedPage | AgentError] = []
    cursor = after
    for new, away in rounds:
        answers += [DOWN] * away
        # The page ends one early, as a bounded page does: the next one brings the rest.
        shown = max(new - 1, 0) if new > 1 else new
        answers.append(page(*range(cursor + 1, cursor + shown + 1), cursor=str(cursor + shown)))
        cursor += shown
        committed = cursor
    listener = Listener(Scripted(*answers), after=after)
    assert listener.positions(committed - after) == list(range(after + 1, committed + 1))
    away, back = listener.said.count("away: down"), listener.said.count("back")
    assert back <= away <= back + 1
