"""What is waited for is read, or asked for again; and what holds for any message at all."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.memory import Memory, remembered
from agent.core.waiting import TYPES, Hint, Hints, Resolution, resolve
from agent.core.waiting.words import ordered
from tests.core.session_turns import chain, turn
from tests.core.waiting_answers import (
    AMOUNT,
    CITY,
    DAY,
    FARES,
    FILE,
    GENRE,
    HOUR,
    MOVIE,
    ORDER,
    ORIGIN,
    OUTSIDE,
    SEATS,
    SPEAKERS,
)  # fmt: skip
from tests.strategies import text as any_text

HINTS = Hints({"order_id": ORDER, "flight_class": FARES, "date": DAY})
ALL = (ORDER, FARES, SPEAKERS, SEATS, AMOUNT, DAY, HOUR, OUTSIDE, CITY, GENRE, MOVIE, ORIGIN, FILE)
NUMBERED = Hint("passengers", values=("1", "2", 3, 4.5, "5 or more"), description="Number of passengers")
DIGITS = Hint("account", "digits")


def waiting(name: str | None, answers: int = 0) -> Memory:
    return Memory(waiting_for_param=name, answers=answers)


def test_nothing_is_read_where_nothing_is_waited_for() -> None:
    assert resolve(waiting(None), "O-12345", HINTS) == Resolution(params={}, cleared=False, reask=None, attempts=0)


def test_a_value_that_is_found_clears_what_is_waited_for() -> None:
    found = resolve(waiting("order_id"), "It's O-12345", HINTS)
    assert found == Resolution({"order_id": "O-12345"}, cleared=True, attempts=1)


def test_a_message_without_the_value_is_a_reason_to_ask_again() -> None:
    found = resolve(waiting("order_id"), "I have no idea where to look", HINTS)
    assert found == Resolution({}, cleared=False, reask="Which order is it?", attempts=1)


def test_from_the_third_attempt_on_the_question_shows_examples() -> None:
    asked = [resolve(waiting("order_id", answers), "what?", HINTS) for answers in range(4)]
    assert [each.attempts for each in asked] == [1, 2, 3, 4]
    assert [each.reask for each in asked] == ["Which order is it?"] * 2 + ["Which order is it? (e.g. O-12345)"] * 2


def test_the_attempts_are_counted_by_the_turns_of_the_session() -> None:
    memory = remembered(chain(turn(1, role="assistant", waiting_for_param="order_id"), turn(2), turn(3)))
    assert resolve(memory, "hm", HINTS).attempts == 3


def test_how_many_attempts_pass_before_examples_is_for_the_hints_to_say() -> None:
    hints = Hints({"order_id": ORDER}, max_attempts=1)
    assert resolve(waiting("order_id"), "hm", hints).reask == "Which order is it? (e.g. O-12345)"


def test_listed_values_are_shown_before_examples_and_no_more_than_ten() -> None:
    few = Hint("x", values=("a", 2), examples=("b",), prompt="Which?")
    assert resolve(waiting("x", 2), "hm", Hints({"x": few})).reask == "Which? (a, 2)"
    many = Hint("x", values=tuple(range(11)), prompt="Which?")
    assert resolve(waiting("x", 2), "hm", Hints({"x": many})).reask == "Which? (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...)"


def test_a_question_without_values_and_examples_stays_as_it_is() -> None:
    assert resolve(waiting("date", 9), "hm", HINTS).reask == "What is the date?"


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("order_id", "What is the order id?"),
        ("orderId", "What is the order id?"),
        ("order-id", "What is the order id?"),
        ("PIN", "What is the pin?"),
        ("", "What is the value?"),
        ("___", "What is the value?"),
    ],
)
def test_a_parameter_without_a_hint_is_asked_for_by_its_name_and_never_read(name: str, asked: str) -> None:
    assert resolve(waiting(name, 5), "12345", Hints()) == Resolution(reask=asked, attempts=6)


def test_a_hint_that_says_nothing_of_the_value_reads_nothing() -> None:
    vague = Hints({"x": Hint("x", description="Anything", examples=("5",))})
    assert resolve(waiting("x", 2), "5", vague) == Resolution(reask="What is the x? (e.g. 5)", attempts=3)


def test_a_message_of_more_than_two_thousand_characters_is_not_read() -> None:
    text = "Economy" + " " * 1_993
    assert resolve(waiting("flight_class"), text, HINTS).params == {"flight_class": "Economy"}
    assert not resolve(waiting("flight_class"), text + " ", HINTS).cleared


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"type": "text"}, "type: must be one of string, integer, number, digits, date, time, boolean"),
        ({"pattern": "a", "values": ("a",)}, "pattern: stands beside values, which say already what there can be"),
        ({"type": "boolean", "values": ("a",)},
         "type: a boolean is read as yes or no, without values and without a pattern"),
        ({"type": "boolean", "pattern": "a"},
         "type: a boolean is read as yes or no, without values and without a pattern"),
        ({"pattern": "("}, "pattern: is no regular expression"),
    ],
)  # fmt: skip
def test_a_hint_that_contradicts_itself_is_refused_by_its_member(members: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(problem)}$"):
        Hint("x", **members)


# What messages are made of: words and marks that the readers look for, and anything else.
PIECES = st.sampled_from(
    ordered(
        "yes no not never please thanks but or and to from in at for the a an one two twenty-five dozen first O-12345 "
        "o-1 Economy premium business class kitchen TV March 8th 2026 2026-03-08 8/9/2026 30.02.2026 next Friday "
        "tomorrow 7 pm 19:30 half past noon o'clock 1,200.50 007 -5 $50 % 3rd San Jose Drama movie 'quoted' \"cut I "
        "want it's is would be good sorry actually wait mean maybe if ? . , ! : ; - ... # 2人 不是 東京 はい か 아니요 "
        "서울 нет Москва لا ١٢ \uff13 ½ ﬁ \u200e \u0301 é ñ"
    )
)
LISTS = st.lists(PIECES | any_text, max_size=12)
MESSAGES = LISTS.map(" ".join) | LISTS.map("".join) | st.text(max_size=60)


@given(MESSAGES, st.sampled_from([*ALL, NUMBERED, DIGITS]), st.integers(0, 5))
def test_any_message_is_read_for_what_was_asked_or_for_nothing(text: str, hint: Hint, answers: int) -> None:
    found = resolve(waiting(hint.name, answers), text, Hints({hint.name: hint}))
    assert found.attempts == answers + 1
    assert found.cleared is (found.reask is None) is (set(found.params) == {hint.name})
    assert found.cleared or found.params == {}
    if found.cleared:
        assert is_of_its_kind(found.params[hint.name], hint, text)


def is_of_its_kind(value: Any, hint: Hint, text: str) -> bool:
    """What each kind of hint promises of its values."""
    if hint.values:
        return any(value is listed for listed in hint.values)
    if hint.pattern is not None:
        return re.fullmatch(hint.pattern, value) is not None
    if hint.type in {"integer", "number"}:
        return type(value) in ({int, str} if hint.type == "integer" else {int, float, str}) and value == value
    if hint.type == "boolean":
        return type(value) is bool
    if hint.type == "digits":
        return value.isascii() and value.removeprefix("+").isdigit()
    return isinstance(value, str) and value.strip() == value != ""


@given(MESSAGES)
def test_a_parameter_without_a_hint_gets_nothing_from_any_message(text: str) -> None:
    assert resolve(waiting("x"), text, HINTS).params == {}


@given(st.sampled_from(FARES.values), st.sampled_from(FARES.values))
def test_two_values_are_no_answer_and_one_said_twice_is(one: str, other: str) -> None:
    found = resolve(waiting("flight_class"), f"{one} or {other}", HINTS)
    assert found.params == ({"flight_class": one} if one == other else {})


@given(st.integers(0, 10**12), st.sampled_from(["{}", "it's {}", "{} please", "no, {}", "I meant {}", "Actually {}."]))
def test_a_whole_number_in_a_usual_frame_is_read_as_it_is(number: int, frame: str) -> None:
    hints = Hints({"n": Hint("n", "integer")})
    assert resolve(waiting("n"), frame.format(number), hints).params == {"n": number}


@given(st.dates())
def test_a_day_in_the_form_of_iso_8601_is_read_as_it_is(day: Any) -> None:
    assert resolve(waiting("date"), f"on {day.isoformat()}, please", HINTS).params == {"date": day.isoformat()}


def test_there_is_a_reader_for_each_type() -> None:
    said = {"string": "Fresno", "integer": "5", "number": "5.5", "digits": "05", "date": "today", "time": "noon"}
    said["boolean"] = "no"
    read = {each: resolve(waiting("x"), said[each], Hints({"x": Hint("x", each)})).params["x"] for each in TYPES}
    assert read == {**said, "integer": 5, "number": 5.5, "boolean": False}
