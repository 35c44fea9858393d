"""What a session comes to in figures: messages, times as instants, tokens once."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.session import evolve, fold
from agent.core.summary import Exchange, Statistics, Summary, exchange, statistics, summary
from agent.core.timestamps import instant
from tests.core.said_turns import said
from tests.core.session_turns import sessions, turn_id

USED = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}


def test_an_empty_session_has_no_messages_and_no_times() -> None:
    assert summary(fold([])) == Summary(message_count=0, last_activity=None, session_started=None)
    assert summary(fold([])).document() == {"message_count": 0, "last_activity": None, "session_started": None}


def test_a_turn_that_only_carries_state_is_no_message_and_is_activity() -> None:
    first = said(1, captured_at="2026-03-02T08:15:00Z")
    metadata = {"memory": {"state_only": True, "params": {"a": 1}}}
    state = said(2, "system", "", metadata=metadata, captured_at="2026-03-02T09:00:00Z")
    assert summary(fold([first, state])) == Summary(1, "2026-03-02T09:00:00Z", "2026-03-02T08:15:00Z")


def test_times_are_compared_as_instants_and_given_back_as_they_are_written() -> None:
    turns = [
        said(1, captured_at="2026-03-02T10:15:00+02:00"),
        said(2, captured_at="2026-03-02T08:15:00.5Z"),
        said(3, captured_at="2026-03-02T08:14:59.999999Z"),
    ]
    assert summary(fold(turns)) == Summary(3, "2026-03-02T08:15:00.5Z", "2026-03-02T08:14:59.999999Z")


def test_the_time_of_capture_counts_and_not_what_the_turn_says() -> None:
    turns = [said(1, timestamp="1999-01-01T00:00:00Z", captured_at="2026-03-02T08:15:00Z")]
    assert summary(fold(turns)).session_started == "2026-03-02T08:15:00Z"


def test_a_store_that_does_not_say_when_it_captured_leaves_the_turns_own_times() -> None:
    turns = [said(1, timestamp="2026-03-02T08:15:00Z"), said(2, timestamp="2026-03-02T08:10:00Z")]
    assert summary(fold(turns)) == Summary(2, "2026-03-02T08:15:00Z", "2026-03-02T08:10:00Z")


@pytest.mark.parametrize("wrong", ["yesterday", "", "2026-03-02T08:15:00", 17, None, []])
def test_what_is_no_date_time_is_passed_over(wrong: Any) -> None:
    turns = [said(1, captured_at=wrong), said(2, captured_at="2026-03-02T08:15:00Z")]
    assert summary(fold(turns)) == Summary(2, "2026-03-02T08:15:00Z", "2026-03-02T08:15:00Z")
    assert summary(fold(turns[:1])) == Summary(1, None, None)


@given(sessions())
def test_a_summary_counts_what_the_history_shows_however_it_came(turns: list[Any]) -> None:
    state = fold(turns)
    assert summary(state).message_count == len(state.history)
    assert summary(evolve(fold(turns[:4]), *turns[4:])) == summary(state)


def test_tokens_are_the_sums_of_the_turns_that_say_how_many_they_took() -> None:
    turns = [said(1, token_usage=USED), said(2, "assistant", token_usage=USED), said(3)]
    found = statistics(turns)
    assert found == Statistics(3, {"user": 2, "assistant": 1}, {name: 2 * count for name, count in USED.items()})
    assert found.document() == {
        "total_messages": 3,
        "by_role": {"user": 2, "assistant": 1},
        "token_usage": {"prompt_tokens": 14, "completion_tokens": 10, "total_tokens": 24},
    }


def test_a_history_without_tokens_took_none() -> None:
    assert statistics([]).document() == {
        "total_messages": 0,
        "by_role": {},
        "token_usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def test_a_count_may_be_written_as_a_float_and_a_sum_be_larger_than_any() -> None:
    huge = 2**63 - 1
    turns = [said(1, token_usage={**USED, "total_tokens": 1.0}), said(2, token_usage={**USED, "total_tokens": huge})]
    assert statistics(turns).token_usage["total_tokens"] == huge + 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"total_tokens": True},
        {"total_tokens": -1},
        {"total_tokens": "12"},
        {"total_tokens": 2**63},
        {"total_tokens": 10**4300 - 1},
        {"total_tokens": 1e300},
        [],
        5,
        None,
    ],
)
def test_tokens_that_are_no_counts_are_passed_over(wrong: Any) -> None:
    turns = [said(1, token_usage=wrong), said(2, token_usage=USED)]
    assert statistics(turns).token_usage == USED


def test_tokens_of_a_turn_that_the_history_does_not_show_do_not_count() -> None:
    state = fold([said(1, token_usage=USED), said(2, token_usage=USED), said(3, after=1, token_usage=USED)])
    assert statistics(state.history).token_usage["total_tokens"] == 24


def test_a_turn_that_comes_again_is_counted_once() -> None:
    turn = said(1, token_usage=USED)
    assert statistics(fold([turn, turn]).history) == Statistics(1, {"user": 1}, USED)
    assert statistics(evolve(fold([turn]), turn).history) == Statistics(1, {"user": 1}, USED)


def test_an_exchange_says_who_spoke_and_for_how_long() -> None:
    turns = [
        said(1, timestamp="2026-03-02T08:15:00Z"),
        said(2, "assistant", timestamp="2026-03-02T08:15:01.5Z"),
        said(3, "tool", timestamp="2026-03-02T08:15:02Z"),
        said(4, "assistant", timestamp="2026-03-02T10:16:00+01:00"),
    ]
    agents = {turn_id(4): "billing", turn_id(2): "front", turn_id(9): "nobody here"}
    assert exchange(turns, agents) == Exchange(4, 3660.0, ("front", "billing"), 1, 2)


def test_a_clock_that_runs_backwards_makes_no_negative_duration() -> None:
    turns = [said(1, timestamp="2026-03-02T08:15:10Z"), said(2, timestamp="2026-03-02T08:15:00Z")]
    assert exchange(turns, {}).duration == 10.0


def test_without_two_times_nothing_took_long() -> None:
    assert exchange([], {}) == Exchange(0, 0.0, (), 0, 0)
    assert exchange([said(1, timestamp="2026-03-02T08:15:10Z"), said(2, erased=True)], {}).duration == 0.0


MOMENTS = st.datetimes().map(lambda at: at.isoformat() + "Z").filter(lambda text: "T" in text)


@given(st.lists(MOMENTS, max_size=6))
def test_a_duration_is_the_longest_between_any_two_messages(times: list[str]) -> None:
    turns = [said(number, timestamp=at) for number, at in enumerate(times, 1)]
    longest = max((abs(instant(one) - instant(other)) for one in times for other in times), default=0)
    assert exchange(turns, {}).duration == pytest.approx(longest / 10**9, rel=1e-12)
