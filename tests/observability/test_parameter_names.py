"""A parameter's name is told where it reads as one; what may be a value is counted."""

from __future__ import annotations

import re
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.observability.logs import safe_field
from agent.observability.parameter_names import MOST_TOLD, UNTOLD, told_name, told_names


@pytest.mark.parametrize(
    "name",
    [
        "order_id", "orderId", "OrderID", "city", "n", "number_of_seats", "date-of-birth", "user.address.city",
        "address_line_2", "line2", "oauth2_token", "s3_bucket", "ipv4", "_private", "restaurant_name",
    ],
)  # fmt: skip
def test_a_name_is_told_as_it_is(name: str) -> None:
    assert told_name(name) == name


@pytest.mark.parametrize(
    "value",
    [
        "4111 1111 1111 1111", "4111111111111111", "4111-1111-1111-1111", "card_4111_1111", "SECRET-71b",
        "ann@example.org", "+44 20 7946 0958", "tel.0207946", "1984-06-01", "O-54321", "order_54321",
        "sk-proj-a1B2c3D4", "AKIAIOSFODNN7EXAMPLE", "eyJhbGciOiJIUzI1NiJ9", "d41d8cd98f00b204e9800998ecf8427e",
        "192.168.0.1", "https://example.org/x", "my name is Ann", "it's", 'a"b', "a\nb", "order_id\n", "größe",
        "订单号", "", "_", "a_", "__a", "a..b", "x" * 33, "_".join(["word"] * 14), "\ud800",
    ],
)  # fmt: skip
def test_what_does_not_read_as_a_name_is_not_told(value: str) -> None:
    assert told_name(value) == UNTOLD
    assert told_names([value]) == ((), 1)


def test_names_come_sorted_and_the_others_are_counted() -> None:
    assert told_names({"order_id": 1, "4111 1111 1111 1111": 2, "city": 3, "a b": 4}) == (("city", "order_id"), 2)
    assert told_names(()) == ((), 0)


def test_of_many_names_fifty_are_told() -> None:
    names = [f"p{number}" for number in range(MOST_TOLD + 7)]
    told = told_names(reversed(names))
    assert told == (tuple(sorted(names)[:MOST_TOLD]), 7)


@given(st.text())
def test_whatever_is_told_is_a_short_token_with_few_digits(name: str) -> None:
    told = told_name(name)
    assert told in {name, UNTOLD}
    if told != UNTOLD:
        assert safe_field(told) == told
        assert len(told) <= 64
        assert len(re.findall(r"\d", told)) <= 4


@given(st.integers(10_000), st.sampled_from(["", "n", "n_", "order-", "id."]))
def test_no_number_of_five_digits_is_told_behind_whatever_word(number: int, word: str) -> None:
    assert told_name(f"{word}{number}") == UNTOLD


@given(st.uuids())
def test_no_uuid_is_told(value: uuid.UUID) -> None:
    assert told_name(str(value)) == UNTOLD
    assert told_name(f"id_{value.hex}") == UNTOLD
