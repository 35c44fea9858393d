"""A setting of several entries is read whole, or refused by the place of the first that is wrong."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.setting_entries import WrongEntry, entries, ordinal
from agent.errors import ConfigurationError


def number(entry: str) -> int:
    if not entry.isdecimal():
        raise WrongEntry("must be a number")
    return int(entry)


def refused(text: str) -> str:
    with pytest.raises(ConfigurationError) as error:
        entries("NUMBERS", text, number)
    assert error.value.variable == "NUMBERS"
    assert error.value.__cause__ is None
    return str(error.value).removeprefix("NUMBERS: ")


@pytest.mark.parametrize("text", ["", " ", "\n", "\t \n"])
def test_a_setting_that_is_blank_has_no_entries(text: str) -> None:
    assert entries("NUMBERS", text, number) == ()


def test_entries_stand_between_commas_or_line_ends_and_blank_ones_do_not_count() -> None:
    assert entries("NUMBERS", "\n 1,2\r\n\n  3 ,,4\n", number) == (1, 2, 3, 4)


@pytest.mark.parametrize("text", [",", ",\n,", " , "])
def test_separators_alone_were_meant_to_hold_something(text: str) -> None:
    assert refused(text) == "holds separators and no entry"


def test_the_first_wrong_entry_is_named_by_its_place_and_never_by_its_text() -> None:
    assert refused("1,,2,CANARY,4,x") == "the 3rd entry must be a number"


@pytest.mark.parametrize(
    ("place", "word"),
    [
        (1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (13, "13th"), (21, "21st"),
        (22, "22nd"), (103, "103rd"), (112, "112th"),
    ],
)  # fmt: skip
def test_a_place_is_told_as_one_counts(place: int, word: str) -> None:
    assert ordinal(place) == word


@given(st.lists(st.integers(0, 99), min_size=1), st.lists(st.sampled_from([",", "\n", ", \n", " ,,"]), min_size=1))
def test_whatever_separates_them_the_entries_are_what_was_written(numbers: list[int], separators: list[str]) -> None:
    text = "".join(f"{value}{separators[place % len(separators)]}" for place, value in enumerate(numbers))
    assert re.search("[,\n]", text)
    assert entries("NUMBERS", text, number) == tuple(numbers)
