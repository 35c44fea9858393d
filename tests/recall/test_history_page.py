"""Pages of a history: whoever walks along them meets each message once, in whatever order the two orders are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.core.turn import SessionTurn
from agent.recall.history_page import Bounds, history_page


def turn(seq: int) -> SessionTurn:
    return SessionTurn(f"t{seq}", seq, "c", None, "user", "x", False, {})


# A history is in the order of its path: where a parent came late, that is not the order of seq.
histories = st.lists(st.integers(1, 60), unique=True, max_size=30).map(lambda seqs: [turn(seq) for seq in seqs])


@given(histories, st.integers(1, 7))
def test_a_walk_to_the_start_meets_every_message_once(history: list[SessionTurn], limit: int) -> None:
    found: list[SessionTurn] = []
    before: int | None = None
    while True:
        page = history_page(history, Bounds(limit, before_seq=before))
        assert list(page.turns) == [each for each in history if each in page.turns]
        assert len(page.turns) <= limit
        found += page.turns
        if not page.has_more:
            assert page.next_before_seq is page.next_after_seq is None
            break
        assert page.next_after_seq is None
        before = page.next_before_seq
    assert sorted(each.seq for each in found) == sorted(each.seq for each in history)


@given(histories, st.integers(1, 7), st.integers(0, 60))
def test_a_walk_onward_meets_every_message_behind_a_place_once(
    history: list[SessionTurn], limit: int, start: int
) -> None:
    found: list[int] = []
    after: int | None = start
    while True:
        page = history_page(history, Bounds(limit, after_seq=after))
        found += [each.seq for each in page.turns]
        assert page.next_before_seq is None
        if not page.has_more:
            break
        after = page.next_after_seq
    assert sorted(found) == sorted(each.seq for each in history if each.seq > start)


@given(histories, st.integers(1, 30))
def test_the_first_page_has_the_newest_messages(history: list[SessionTurn], limit: int) -> None:
    page = history_page(history, Bounds(limit))
    newest = sorted((each.seq for each in history), reverse=True)[:limit]
    assert sorted(each.seq for each in page.turns) == sorted(newest)
    assert page.has_more is (len(history) > limit)
