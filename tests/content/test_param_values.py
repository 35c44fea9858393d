"""A value of a redacted parameter is known again where it stands as a word or phrase of its own, in every script."""

# ruff: noqa: RUF001 - values in their own letters

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.content.detectors.view import view_of
from agent.content.param_values import MOST_PLACES, MOST_VALUES, ParamValues, is_value, text_of


def parts(text, *values):
    """What of ``text`` is found, in order."""
    return [text[found.start : found.end] for found in sorted(ParamValues(values).find(text))]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("hunter2", "it is hunter2."),
        ("hunter2", '{"said":"hunter2"}'),
        ("Long Beach", "in Long\n  Beach, please"),
        ("#W2378156", "order #W2378156?"),
        ("ann-marie", "(ann-marie)"),
        ("🚀🚀🚀🚀", "by 🚀🚀🚀🚀 !"),
        ("пароль", "мой пароль: скажу"),
        ("пароль", "abcпароль"),
        ("नमस्ते", "यह नमस्ते है"),
        ("שלום1", "(שלום1)"),
        ("张伟明先", "我是张伟明先生"),
        ("สมชาย", "ชื่อสมชายครับ"),
        ("김철수랑", "김철수랑이"),
        ("ab(c)[d]", "x ab(c)[d] y"),
    ],
)
def test_a_value_is_found_between_the_borders_of_its_script(value, text):
    [found] = parts(text, value)
    assert found.split() == value.split()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("hunter2", "hunter23 ahunter2 hunter2_x HUNTER2"),
        ("4711", "A4711 14711 4711b 4711_1"),
        ("пароль", "пароли паролью опароль"),
        ("नमस्ते", "नमस्तेज"),
        ("cafe", "cafe\u0301 café"),
        ("----", "--------- x"),
        ("Long Beach", "LongBeach Long-Beach Long Beaches"),
    ],
)
def test_a_part_of_another_word_is_not_it(value, text):
    assert parts(text, value) == []


@pytest.mark.parametrize(
    "text",
    [
        "0012345678",
        "0012 3456 78",
        "0012-3456-78",
        "0012) 345678",
        "00.12/34 - 5678",
        "０012 3456 78",
        "٠٠١٢٣٤٥٦٧٨",
        "0\u200b012345678",
    ],
)
@pytest.mark.parametrize("value", ["0012345678", "0012 3456 78", "(00)1234-56-78", "+00 12345678"])
def test_a_value_of_digits_is_found_however_they_are_grouped(text, value):
    assert parts(f"is {text}, so", value) == [text]
    assert parts(f"账号{text}号, 번호는 {text}입니다, رقم{text}", value) == [text] * 3


@pytest.mark.parametrize("text", ["x0012345678", "00123456789", "10012345678", "0012,3456,78", "0012    345678"])
def test_other_digits_are_not_it(text):
    assert parts(text, "0012345678") == []


def test_of_few_digits_no_amount_is_made():
    assert parts("47.11, 47/11, 47-11, 4 7 1 1, 4711.", "4711") == ["47-11", "4 7 1 1", "4711"]
    assert parts("12.50 and 1250", "12.50") == ["12.50"]


UUID = "deadbeef-8566-4000-8000-000000000012"


@pytest.mark.parametrize(
    "text",
    [
        *("at 48.8566, 2.3522", "48,8566", "8566.5", "8566,50", "v1.8566.3", "0.8566", "8566.01", "12.345,8566"),
        *(UUID, f"({UUID})", UUID.upper(), f"urn:uuid:{UUID}", "8566.0.1", "48,8566, 2,3522", "(48,8566;2,3522)"),
    ],
)
def test_digits_of_a_longer_number_or_of_an_id_are_not_it(text):
    assert parts(text, "8566", "80000000", "000000000012") == []


@pytest.mark.parametrize(
    "text",
    [
        *("8566.", "it is 8566, so", "tel.8566", "8566...", "ann,8566,30", "1,8566,30", "8566,30,2", "30,2,8566"),
        *(
            "[8566,5]",
            "[5,8566]",
            '{"a":[47.11,8566,-5]}',
            '{"a": [8566,5]}',
            "[ 5,8566 ]",
            "[8566,5\n]",
            "8566.0",
            "8566.00.",
            "-8566",
            "a-8566-b",
            f"{UUID} 8566",
            "1. 8566",
            "x,8566",
        ),
    ],
)
def test_digits_beside_a_sign_or_in_a_list_are_it(text):
    assert parts(text, "8566") == ["8566"]


def test_behind_the_beginning_of_a_longer_number_the_next_value_is_looked_for():
    assert parts("1.8566-4711", "85664711", "4711") == ["4711"]
    assert parts("10.0.0.1,10.0.0.2 10.0.0.10", "10.0.0.1") == ["10.0.0.1"]
    assert parts("1.12.50 and 12.50", "12.50") == ["12.50"]


def test_an_id_of_digits_is_found_whole():
    assert parts("12345678-1234-1234-1234-123456789012", "12345678123412341234123456789012") != []


@pytest.mark.parametrize(
    "value",
    [
        *(
            "",
            "abc",
            "123",
            " ab ",
            "true",
            "false",
            "null",
            "[redacted:email]",
            "[omitted:4711]",
            "----",
            "....",
            "____",
        ),
        *("None", "NULL", "undefined", "Unknown", "default", "empty", "unset", "missing", "test", "N/A", "nan", "yes"),
    ],
)
def test_what_is_too_short_or_says_nothing_is_no_value(value):
    values = ParamValues([value])
    assert not values
    assert values.find(f"x {value} y") == []


def test_nothing_is_found_in_a_placeholder_or_across_one():
    text = "redacted [redacted:email] redacted email [omitted:4711] 4711"
    assert parts(text, "redacted", "email", "4711", "a [redacted:email] b", "omitted") == [
        "redacted", "redacted", "email", "4711",
    ]  # fmt: skip


def test_of_two_that_begin_alike_the_longer_is_found():
    assert parts("alpha beta gamma, alpha beta, alpha", "alpha", "alpha beta gamma", "alpha beta") == [
        "alpha beta gamma", "alpha beta", "alpha",
    ]  # fmt: skip


def test_a_long_value_is_found_wherever_it_stands():
    value = "a long value\nof more than one line, as keys have " * 3
    assert parts(f"({value})x{value}", value) == [value.strip()] * 2


def test_each_of_a_thousand_values_is_found_and_none_of_what_comes_after():
    values = [f"{chr(0x4E00 + number)}value{number:04d}" for number in range(MOST_VALUES + 100)]
    assert parts(" ".join(values), *values) == values[:MOST_VALUES]


def test_a_text_with_more_places_than_anybody_replaces_goes_whole():
    text = "4711 " * MOST_PLACES
    assert len(ParamValues(["4711"]).find(text)) == MOST_PLACES
    assert parts(f"so {text}4711 and on", "4711") == [f"so {text}4711 and on"]


def test_so_does_one_with_more_longer_numbers_than_anybody_looks_at():
    text = "1.4711 " * MOST_PLACES
    assert parts(text, "4711") == []
    assert parts(f"so {text}4711.5", "4711") == [f"so {text}4711.5"]


def test_patterns_of_one_capture_are_not_kept_for_the_next():
    ParamValues(f"value{number:06d}x" for number in range(MOST_VALUES))
    assert not any("value" in str(key) and "001" in str(key) for key in re._cache)  # type: ignore[attr-defined]  # no other way to see what is kept


def test_a_number_is_said_in_the_shortest_way():
    assert [text_of(number) for number in (4711, -1, 4711.0, 12.5, 1e300)] == ["4711", "-1", "4711", "12.5", "1e+300"]
    assert [text_of(number) for number in (-0.0, 1e-320, 10**400)] == ["0", "1e-320", f"1{'0' * 400}"]


words = st.text(st.characters(codec="utf-8"), min_size=4, max_size=12)


@given(value=words, around=st.sampled_from(["", "\n", "; ", '"', " — "]), rest=words)
def test_a_value_between_spaces_is_always_found(value, around, rest):
    values = ParamValues([value])
    text = f"{rest}{around} {value} {around}{rest}"
    assert bool(values) is is_value(view_of(value).text.strip())
    for found in sorted(values.find(text), reverse=True):
        text = f"{text[: found.start]}[]{text[found.end :]}"
    assert (f" {value} " in text) is not bool(values)
