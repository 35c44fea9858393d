"""What is waited for is read, or asked for again; and what holds for any message at all."""

import re
from collections.abc import Iterator
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
    CUISINE,
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


def test_a_message_of_more_than_five_hundred_characters_is_not_read() -> None:
    text = "Economy" + " " * 493
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
        ({"pattern": " "}, "pattern: is empty"),
        ({"values": ("a", " ")}, "values[1]: must not be blank"),
        ({"examples": ("",)}, "examples[0]: must not be blank"),
        ({"values": ("a b", "A-B")}, "values[1]: stands twice"),
        ({"values": ("+", "-", "+")}, "values[2]: stands twice"),
        ({"values": (1, 2.0, "2")}, "values[2]: stands twice"),
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


JOINTS = [", ", " and ", ". ", " ", " or ", "/", " vs ", " & ", ", or rather ", "? Or "]


@given(st.sampled_from(CUISINE.values), st.sampled_from(CUISINE.values), st.sampled_from(JOINTS))
def test_two_values_are_no_answer_however_they_are_joined_and_one_said_twice_is(
    one: str, other: str, joint: str
) -> None:
    found = resolve(waiting("cuisine"), one + joint + other, Hints({"cuisine": CUISINE}))
    assert found.params == ({"cuisine": one} if one == other and joint in JOINTS[:4] else {})


ANSWERS = st.sampled_from(
    [(FARES, "Economy"), (SPEAKERS, "kitchen"), (ORDER, "O-12345"), (SEATS, "2"), (AMOUNT, "two"), (DAY, "March 8th"),
     (HOUR, "7 pm"), (OUTSIDE, "yes"), (OUTSIDE, "no"), (DIGITS, "12345"), (NUMBERED, "3")]
)  # fmt: skip
# Words of no language that anybody here knows.
UNKNOWN = st.text("bcdfghjklmnpqrtvwxz", min_size=5, max_size=9)


@given(
    ANSWERS, UNKNOWN, st.sampled_from(["{0} {1}", "{1} {0}", "{0}, {1}", "{1}: {0}", "{0}. {1}.", "{0}-{1}", "{1}-{0}"])
)
def test_a_value_beside_a_word_that_nobody_knows_is_a_doubt(answer: tuple[Hint, str], word: str, frame: str) -> None:
    hint, value = answer
    assert resolve(waiting(hint.name), value, Hints({hint.name: hint})).cleared
    assert not resolve(waiting(hint.name), frame.format(value, word), Hints({hint.name: hint})).cleared


@given(ANSWERS, st.integers(0, 99), st.sampled_from("<>{}[]|\\/~^&@$%+°§→⚠❌"))
def test_a_value_beside_a_digit_or_a_mark_of_no_sentence_is_a_doubt(
    answer: tuple[Hint, str], number: int, mark: str
) -> None:
    hint, value = answer
    hints = Hints({hint.name: hint})
    assert not resolve(waiting(hint.name), f"{mark} {value}", hints).cleared
    assert not resolve(waiting(hint.name), f"{value} {mark}", hints).cleared
    if hint != DIGITS:
        assert not resolve(waiting(hint.name), f"{number} {value}", hints).cleared


WORST = [
    "I want " + " " * 480 + " x", "please " * 71, ", " * 250, "'" * 500, "' " * 250, "a-" * 250, "to a from b " * 41,
    "so " * 166, "is " * 166, "not " * 125, "A " * 250, "(" * 500, "." * 500, "5-" * 250, "5.5." * 125,
    "at 7 " * 100, "to Aa " * 83, "in the mood for " * 31, "last 5 " * 71, "yes " * 125, "我" * 500,
]  # fmt: skip


@pytest.mark.parametrize("text", WORST)
def test_the_worst_of_messages_come_to_an_end_and_to_nothing(text: str) -> None:
    for hint in ALL:
        found = resolve(waiting(hint.name), text, Hints({hint.name: hint}))
        assert found.params in ({}, {hint.name: True})


@given(st.sampled_from(["Fresno", "long beach"]), st.integers(1, 200), st.sampled_from(["please", "thanks", "then"]))
def test_blanks_before_what_is_only_polite_change_nothing(city: str, blanks: int, tail: str) -> None:
    assert resolve(waiting("city"), city + " " * blanks + tail, Hints({"city": CITY})).params == {"city": city}


def test_a_long_list_is_walked_over_a_few_times_whatever_the_message_is() -> None:
    class Walked(tuple[str, ...]):
        times = 0

        def __iter__(self) -> Iterator[str]:
            Walked.times += 1
            return super().__iter__()

    values = Walked(f"word{number} at {number}" for number in range(2_000))
    hint = Hint("x", values=values)
    for text in ("at 7", "at 7 " * 100, "not at 7, " * 50, "word7 at 7"):
        Walked.times = 0
        resolve(waiting("x"), text, Hints({"x": hint}))
        assert Walked.times <= 8


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
