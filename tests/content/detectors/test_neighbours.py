"""Finds beside one another: in order, apart, and nothing of what was looked for is left, whatever stands between."""

import random
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.content.detectors import find
from agent.content.detectors.view import KINDS
from agent.content.found import Finds, Found
from agent.content.placeholder import redacted
from agent.content.redacted import Redacting

KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----"
# How each stands in a text, and what of it may not be left.
EXAMPLES = {
    "private_key": (KEY, KEY),
    "jwt": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjMifQ.abcabcabc",) * 2,
    "vendor_token": ("ghp_" + "a1B2" * 9,) * 2,
    "bearer": ("Authorization: Bearer abcDEF1234567890xyz", "abcDEF1234567890xyz"),
    "connection_string": ("Server=a;Password=S3cret42;", "S3cret42"),
    "url_password": ("redis://u:p4ssw0rd@h.example", "p4ssw0rd"),
    "cloud_key": ("AKIA7KSX43UW56RKG62Q",) * 2,
    "iban": ("DE89370400440532013000",) * 2,
    "iban in groups": ("DE89 3704 0044 0532 0130 00",) * 2,
    "card": ("4111111111111111",) * 2,
    "card in groups": ("4111 1111 1111 1111",) * 2,
    "national_id": ("111.444.777-35",) * 2,
    "national_id with a letter": ("12345678Z",) * 2,
    "national_id of China": ("11010519491231002X",) * 2,
    "email": ("ann@example.org",) * 2,
    "phone": ("+49 30 901820",) * 2,
    "phone of a country": ("(415) 555-2671",) * 2,
}
PARTING = (":", " ", ",", ";", "|", "\n", "/", ", ", "; ", ": ", " / ", "\t", "\n\n", " | ")
# What is joined by these may be one longer name or number, and is looked at as one.
JOINING = ("", "-", ".", "_", "=", "+", "@")


def redact(text: str) -> str:
    return Redacting(find, frozenset()).text(text)


def is_in_order(found: list[Found]) -> bool:
    return all(hit.start < hit.end for hit in found) and all(hit.end <= then.start for hit, then in pairwise(found))


def parts_what_follows(before: str, mark: str) -> bool:
    """Whether ``mark`` behind ``before`` ends it: behind a host a slash begins a path, and ids in paths stay."""
    return mark in PARTING and not (before == "url_password" and mark == "/")


def faults(names: tuple[str, ...], mark: str) -> list[str]:
    """What is wrong with the finds in the examples of ``names`` with ``mark`` between them."""
    text = mark.join(EXAMPLES[name][0] for name in names)
    found, after = find(text), redact(text)
    is_parted = all(parts_what_follows(name, mark) for name in names)
    left = [name for name in names if is_parted and EXAMPLES[name][1] in after]
    told = [] if is_in_order(found) else [f"{names} {mark!r}: {found}"]
    told += [f"{names} {mark!r}: {left} is left in {after!r}"] if left else []
    return [*told, *([f"{names} {mark!r}: redacted twice {after!r}"] if redact(after) != after else [])]


def test_each_kind_has_an_example() -> None:
    assert {name.split()[0] for name in EXAMPLES} - {"bearer"} == set(KINDS)
    assert all(secret not in redact(text) for text, secret in EXAMPLES.values())


@pytest.mark.parametrize("mark", [*PARTING, *JOINING])
def test_of_two_kinds_side_by_side_neither_is_left(mark: str) -> None:
    assert [fault for pair in product(EXAMPLES, repeat=2) for fault in faults(pair, mark)] == []


@pytest.mark.parametrize("mark", [*PARTING, *JOINING])
def test_of_three_kinds_side_by_side_none_is_left(mark: str) -> None:
    drawn = random.Random(mark).sample([*product(EXAMPLES, repeat=3)], 150)
    assert [fault for three in drawn for fault in faults(three, mark)] == []


@given(
    st.lists(st.sampled_from([*(text for text, _ in EXAMPLES.values()), *PARTING, *JOINING]), max_size=9).map("".join)
)
def test_whatever_stands_side_by_side_finds_are_in_order_and_redacting_twice_is_redacting_once(text: str) -> None:
    assert is_in_order(find(text))
    assert redact(redact(text)) == redact(text)


def test_what_a_second_look_finds_before_the_first_is_in_order_though_nothing_is_left_to_look_at() -> None:
    text = "4111111111111111:ann@example.org"
    assert find(text) == [Found(0, 16, "card"), Found(17, 32, "email")]
    assert redact(text) == "[redacted:card]:[redacted:email]"


@given(
    st.text("ab,:", min_size=30, max_size=30),
    st.lists(st.tuples(st.integers(0, 24), st.integers(1, 6), st.sampled_from(KINDS)), min_size=1, max_size=6),
    st.booleans(),
)
def test_no_character_of_a_find_is_left_however_the_finds_come(
    text: str, places: list[tuple[int, int, str]], is_last_look: bool
) -> None:
    finds = [Found(start, start + length, kind) for start, length, kind in places]
    detect = (lambda _: Finds(finds, 1)) if is_last_look else (lambda seen: finds if seen == text else [])
    covered = {place for start, end, _ in finds for place in range(start, end)}
    kept = "".join(each if place not in covered else "\0" for place, each in enumerate(text))
    after = Redacting(detect, frozenset()).text(text)
    for kind in KINDS:
        after = after.replace(redacted(kind), "\0")
    assert [piece for piece in after.split("\0") if piece] == [piece for piece in kept.split("\0") if piece]
