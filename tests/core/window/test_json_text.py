"""The JSON text of any value: as the encoder writes it where it can, and a text all the same where it cannot."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.canonical import encode
from agent.core.window.json_text import json_text

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def deep(levels: int) -> Any:
    value: Any = "end"
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


@given(values)
def test_it_is_what_the_encoder_writes(value: Any) -> None:
    assert json_text(value) == encode(value).decode()


@given(values)
def test_what_cannot_be_encoded_beside_a_value_changes_nothing_of_it(value: Any) -> None:
    assert json_text([value, "\ud800"]) == f'[{encode(value).decode()},"\ud800"]'


@pytest.mark.parametrize("levels", [200, 300, 990, 5000, 50_000])
def test_the_depth_of_a_value_makes_no_difference(levels: int) -> None:
    text = json_text(deep(levels))
    assert len(text) == len('"end"') + levels // 2 * 2 + (levels + 1) // 2 * 6
    assert text.count("[") == text.count("]") == levels // 2


@pytest.mark.parametrize("beside", [0, 10**40, "\ud800"])
def test_by_name_the_order_of_members_makes_no_difference(beside: Any) -> None:
    one, other = {"b": [beside], "a": {"d": 1, "c": 2}}, {"a": {"c": 2, "d": 1}, "b": [beside]}
    assert json_text(one, sort_keys=True) == json_text(other, sort_keys=True)
    assert json_text(one) != json_text(other)


def test_an_integer_keeps_every_digit() -> None:
    assert json.loads(json_text({"n": 10**40})) == {"n": 10**40}


@pytest.mark.parametrize("odd", [10**5000, {1: 2}, {(1, 2): {3}}, b"x", object, (1, "\ud800")], ids="abcdef")
def test_what_is_no_json_has_a_text_too(odd: Any) -> None:
    assert json_text(odd)
    assert json_text([odd])
