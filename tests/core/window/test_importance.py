"""What a turn is worth: each rule by itself, and what holds for every conversation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.pairs import paired_calls
from agent.core.turn import SessionTurn
from agent.core.window.importance import Part, explained, importance
from agent.core.window.signals import signals_of
from tests.core.call_turns import invocation, turn

DAY = "2026-03-{:02}T08:00:00Z"


def said(number: int, role: str = "user", content: str | None = "Paris", *calls: Any, **members: Any) -> SessionTurn:
    return turn(number, role, *calls, after=number - 1 or None, content=content, **members)


def behind(*turns: SessionTurn, count: int = 20) -> list[SessionTurn]:
    """``turns`` far from the end, where nothing is recent."""
    start = len(turns) + 1
    return [*turns, *(said(number, content=f"word{number}") for number in range(start, start + count))]


def parts(messages: list[SessionTurn], place: int = 0) -> dict[str, float]:
    return {rule: delta for rule, delta in explained(messages, paired_calls(messages))[place].parts if rule != "recent"}


def test_a_turn_that_says_nothing_of_itself_is_worth_half() -> None:
    assert importance(behind(said(1)), {})[0] == 0.5


@pytest.mark.parametrize(
    ("role", "content", "rule", "delta"),
    [
        ("user", "Never use the second file.", "directive", 0.2),
        ("assistant", "It seems there was an oversight.", "correction", 0.2),
        ("user", "To be exact, it should be last 20 lines.", "correction", 0.2),
        ("user", "Thank you so much!", "casual", -0.2),
        ("assistant", "You're welcome!", "casual", -0.2),
        ("tool", "Error: order not found", "error", 0.3),
        ("user", "but I get the following error:", "error", 0.3),
        ("tool", "255.0", "tool_result", 0.2),
    ],
)
def test_what_a_turn_says_counts(role: str, content: str, rule: str, delta: float) -> None:
    assert parts(behind(said(1, role, content)))[rule] == delta


def test_a_call_counts_and_a_result_counts() -> None:
    messages = behind(said(1), said(2, "assistant", "", invocation("a")), said(3, "tool", "7", invocation("a")))
    assert parts(messages, 1) == {"base": 0.5, "tool_call": 0.3}
    assert parts(messages, 2) == {"base": 0.5, "tool_result": 0.2}


def test_a_result_that_is_marked_as_failed_is_an_error_whatever_it_says() -> None:
    messages = behind(said(1), said(2, "tool", "7", invocation("a", success=False)))
    assert parts(messages, 1)["error"] == 0.3


def test_each_reference_counts() -> None:
    messages = behind(said(1), said(2, content="Cancel that one, and do it again."))
    assert parts(messages, 1)["references"] >= 0.2


def test_a_day_of_age_is_taken_off_from_the_newest_message_on() -> None:
    old, new = said(1, timestamp=DAY.format(1)), said(2, content="Rome", timestamp=DAY.format(4))
    assert parts(behind(old, new)) == {"base": 0.5, "age": pytest.approx(-0.3)}
    assert "age" not in parts(behind(old, new), 1)


@pytest.mark.parametrize("timestamp", [None, 17, "", "yesterday", "2026-02-30T00:00:00Z"])
def test_a_turn_that_does_not_say_when_has_no_age(timestamp: Any) -> None:
    messages = behind(said(1, timestamp=timestamp), said(2, content="Rome", timestamp=DAY.format(4)))
    assert "age" not in parts(messages)


def test_what_comes_again_later_is_redundant_and_the_last_is_not() -> None:
    messages = behind(said(1, content="My id is 7"), said(2), said(3, content=" My id  is 7 "))
    assert parts(messages)["redundant"] == -0.2
    assert "redundant" not in parts(messages, 2)


def test_the_same_words_of_another_role_are_not_redundant() -> None:
    assert "redundant" not in parts(behind(said(1), said(2, "assistant")))


def test_a_newer_result_of_the_same_tool_with_the_same_arguments_makes_the_older_redundant() -> None:
    def asked(second: dict[str, Any]) -> list[SessionTurn]:
        return behind(
            said(1, "assistant", "", invocation("a", arguments={"city": "Rome", "day": 1})),
            said(2, "tool", "rain", invocation("a")),
            said(3, "assistant", "", invocation("b", arguments=second)),
            said(4, "tool", "sun", invocation("b")),
        )

    assert parts(asked({"day": 1, "city": "Rome"}), 1)["redundant"] == -0.2
    assert "redundant" not in parts(asked({"day": 2, "city": "Rome"}), 1)
    assert "redundant" not in parts(asked({"day": 1, "city": "Rome"}), 3)


def test_arguments_beyond_64_bits_are_arguments_too() -> None:
    calls = [
        said(1, "assistant", "", invocation("a", arguments={"n": 10**40})),
        said(2, "tool", "x", invocation("a")),
        said(3, "assistant", "", invocation("b", arguments={"n": 10**40})),
        said(4, "tool", "y", invocation("b")),
    ]
    assert parts(behind(*calls), 1)["redundant"] == -0.2


def test_the_turns_of_a_task_that_is_marked_complete_lose_by_it() -> None:
    done = said(2, "assistant", "Rome", metadata={"memory": {"task": "complete"}})
    messages = behind(said(1), done, said(3, content="London"))
    assert parts(messages)["task_complete"] == parts(messages, 1)["task_complete"] == -0.3
    assert "task_complete" not in parts(messages, 2)


def test_the_last_5_10_and_20_are_recent() -> None:
    scores = importance([said(number, content=f"word{number}") for number in range(1, 31)], {})
    assert scores == [0.5] * 10 + [0.6] * 10 + [0.7] * 5 + [0.9] * 5


@pytest.mark.parametrize(
    ("memory", "score"),
    [
        ({"importance": 0.25}, 0.25),
        ({"importance": 0}, 0.0),
        ({"importance": 1}, 1.0),
        ({"pinned": True}, 1.0),
        ({"pinned": True, "importance": 0.1}, 1.0),
        ({"importance": 1.1}, 0.5),
        ({"importance": True}, 0.5),
        ({"importance": "0.9"}, 0.5),
        ({"pinned": "yes"}, 0.5),
    ],
)
def test_a_turn_may_say_itself_what_it_is_worth(memory: dict[str, Any], score: float) -> None:
    assert importance(behind(said(1, metadata={"memory": memory})), {})[0] == score


def test_a_system_turn_is_worth_all_unless_it_says_otherwise() -> None:
    told = said(2, "system", "Be brief.", metadata={"memory": {"importance": 0.3}})
    assert importance(behind(said(1, "system", "Thank you!"), told), {})[:2] == [1.0, 0.3]


def test_an_erased_turn_is_scored_by_what_is_left_of_it() -> None:
    assert importance(behind(said(1, content=None)), {})[0] == 0.5
    assert importance(behind(said(1, "assistant", None, invocation("a"))), {})[0] == 0.8


def test_a_reader_may_keep_the_signals() -> None:
    kept: dict[tuple[str, str], frozenset[str]] = {}

    def keeping(text: str, role: str) -> frozenset[str]:
        return kept.setdefault((text, role), signals_of(text, role))

    messages = behind(said(1, content="Never do it again."))
    assert importance(messages, {}, signals=keeping) == importance(messages, {})
    assert kept


TEXTS = st.sampled_from(
    [
        "",
        "Thanks!",
        "Never do that.",
        "Error: no",
        "That's all, thanks.",
        "Oops, I made a mistake.",
        "x",
        "Now find a song.",
    ]
)
TIMES = st.sampled_from([None, "no time", DAY.format(1), DAY.format(2), DAY.format(9)])
MEMORY = st.sampled_from([{}, {"pinned": True}, {"importance": 0.4}, {"task": "complete"}, {"importance": "x"}])


@st.composite
def conversations(draw: st.DrawFn) -> list[SessionTurn]:
    def one(number: int) -> SessionTurn:
        role = draw(st.sampled_from(["user", "assistant", "tool", "system", "robot"]))
        calls = [invocation(name) for name in draw(st.lists(st.sampled_from("abc"), max_size=2))]
        members = {"timestamp": draw(TIMES), "metadata": {"memory": draw(MEMORY)}}
        return said(number, role, draw(st.none() | TEXTS), *calls, **members)

    return [one(number) for number in range(1, draw(st.integers(0, 12)) + 1)]


@given(conversations())
def test_every_score_is_between_0_and_1_and_the_sum_of_its_parts(messages: list[SessionTurn]) -> None:
    scores = explained(messages, paired_calls(messages))
    assert [score.value for score in scores] == importance(messages, paired_calls(messages))
    for score in scores:
        assert 0 <= score.value <= 1
        assert score.value == pytest.approx(min(1, max(0, sum(part.delta for part in score.parts))), abs=1e-5)
        assert all(isinstance(part, Part) for part in score.parts)


def test_a_turn_that_is_dated_far_ahead_has_no_age_and_gives_none_to_the_others() -> None:
    ahead = said(1, timestamp="9999-12-31T00:00:00Z")
    old, new = said(2, content="Rome", timestamp=DAY.format(1)), said(3, content="Oslo", timestamp=DAY.format(4))
    messages = behind(ahead, old, new)
    assert "age" not in parts(messages)
    assert parts(messages, 1)["age"] == pytest.approx(-0.3)


def test_the_newest_message_is_the_last_that_says_when_it_was() -> None:
    messages = behind(said(1, timestamp=DAY.format(1)), said(2, content="Rome", timestamp=DAY.format(3)))
    messages.append(said(99, content="Oslo", timestamp="no time"))
    assert parts(messages)["age"] == pytest.approx(-0.2)


@pytest.mark.parametrize("value", [10**40, "\ud800"])
def test_the_order_of_arguments_makes_no_difference_whatever_they_hold(value: Any) -> None:
    calls = [
        said(1, "assistant", "", invocation("a", arguments={"n": value, "m": 1})),
        said(2, "tool", "x", invocation("a")),
        said(3, "assistant", "", invocation("b", arguments={"m": 1, "n": value})),
        said(4, "tool", "y", invocation("b")),
    ]
    assert parts(behind(*calls), 1)["redundant"] == -0.2
