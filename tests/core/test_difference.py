"""What a difference repeats of an event: ids, hashes, counts and words of the contract, and never content."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given

from agent.core.difference import shown
from agent.core.numbers import whole_number
from tests.strategies import json_values, text

ID = "6F1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"


@pytest.mark.parametrize(
    "value", [ID, "ab" * 32, "1.0.0", "prompt", "belongs_to", "ids_derived", 7, -1, 2**100, "2026-03-02T08:15:00Z"]
)
def test_ids_hashes_counts_instants_and_words_are_repeated(value: Any) -> None:
    assert shown(value) == value


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("hello", "(text)"),
        ("", "(text)"),
        (ID + "\n", "(text)"),
        ("2026-03-02T08:15:00." + "1" * 40 + "Z", "(text)"),
        (None, "(null)"),
        (True, "true"),
        (False, "false"),
        (1.5, "(number)"),
        (10**4000, "(number)"),
        ([1], "(array)"),
        ({"a": 1}, "(object)"),
    ],
)
def test_anything_else_is_told_by_its_type(value: Any, name: str) -> None:
    assert shown(value) == name


@given(text.map(lambda some: f"{some} content"))
def test_no_text_of_anybody_is_repeated(value: str) -> None:
    assert shown(value) == "(text)"


@given(json_values)
def test_what_is_shown_is_short_whatever_it_is(value: Any) -> None:
    assert len(str(shown(value))) <= 64


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1),
        (1.0, 1),
        (Decimal("1e2"), 100),
        (1.5, None),
        (float("inf"), None),
        (float("nan"), None),
        (True, None),
        (None, None),
        ("1", None),
        ([], None),
        ({}, None),
        (object(), None),
        (10**4000, 10**4000),
    ],
)
def test_a_whole_number_is_one_however_it_is_written(value: Any, number: int | None) -> None:
    assert whole_number(value) == number
