"""What a capture costs where it is redacted: bounded by its size; what is too much is left out, not let through."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.content.detectors import _GATES, _OF_DIGITS, find
from agent.content.detectors.view import view_of
from agent.content.found import Finds, Found
from agent.content.json_text import _ESCAPE, _TOKEN, _behind_escape
from agent.content.param_values import ParamValues
from agent.content.redacted import MOST_EFFORT, Redacting
from tests.content.detectors.test_laws import texts

NOBODY: frozenset[str] = frozenset()
ROCKET = "\U0001f680"
# One text, or values: each made so that some part has the most to do with it.
HOSTILE: dict[str, Callable[[int], Any]] = {
    "one letter": lambda size: "x" * size,
    "addresses": lambda size: "".join(f"mia{n:06d}@example.org " for n in range(size // 22)),
    "addresses in values": lambda size: [f"mia{n:06d}@example.org" for n in range(size // 24)],
    "an address in each": lambda size: ["ann@example.org"] * (size // 18),
    "telephones in values": lambda size: [f"phone 0121 {n:07d}" for n in range(size // 20)],
    "integers": lambda size: [4111111111111111 + n for n in range(size // 17)],
    "escaped addresses in JSON": lambda size: json.dumps([f"{n:06d}@ex.org\n" for n in range(size // 20)]),
    "addresses in JSON": lambda size: json.dumps(["a@b.cc"] * (size // 10)),
    "numbers in JSON": lambda size: json.dumps([4111111111111111] * (size // 18)),
    "a list of telephones": lambda size: "phone " + "4155552671, " * (size // 12),
    "lists of telephones": lambda size: ("phone " + "4155552671, " * 40 + "and so on and on " * 20) * (size // 826),
    "digits told one by one": lambda size: "4 1 5 5 5 5 2 6 7 1, x " * (size // 23),
    "a table": lambda size: "phone,name\n" + "4155552671,abcdef\n" * (size // 18),
    "colons": lambda size: ":" * size,
    "placeholders": lambda size: "[redacted:email] " * (size // 17),
    "no width": lambda size: "a\u200b" * (size // 4),
    "settings": lambda size: "pwd=a;" * (size // 6),
}


def measured(value: Any) -> tuple[int, int, int]:
    """How often was looked, at how many characters, and what that took."""
    looked: list[int] = []

    def detect(text: str) -> Finds:
        looked.append(len(text))
        return find(text)

    rule = Redacting(detect, NOBODY)
    rule.arguments(value)
    return len(looked), sum(looked), rule.effort


def leaves(value: Any) -> int:
    return len(value) if isinstance(value, list) else 1


@pytest.mark.parametrize("name", HOSTILE)
def test_no_character_is_looked_at_often(name: str) -> None:
    value = HOSTILE[name](10_000)
    calls, characters, _ = measured(value)
    literals = value.count('"') // 2 if isinstance(value, str) else 0
    assert calls <= 2 * (leaves(value) + literals)
    assert characters <= 3 * len(json.dumps(value, ensure_ascii=False))


@pytest.mark.parametrize("name", HOSTILE)
def test_twice_as_much_takes_twice_as_long(name: str) -> None:
    once, twice = (measured(HOSTILE[name](size))[2] for size in (8_000, 16_000))
    assert twice <= 2.2 * once + 5_000


@pytest.mark.parametrize("name", HOSTILE)
def test_the_effort_of_a_capture_ends_with_the_look_that_uses_it_up(name: str) -> None:
    value = HOSTILE[name](10_000)
    rule = Redacting(find, NOBODY, most_effort=4_000)
    rule.arguments(value)
    largest = find(value).effort if isinstance(value, str) else 2_000
    assert rule.effort <= 4_000 + largest


def test_what_there_are_no_looks_left_for_is_left_out_whole() -> None:
    rule = Redacting(find, NOBODY, most_effort=100)
    value = [
        *("a text of some length, in which nothing is found at all", "the next one " * 10),
        *("mia@example.org", "ok", "", "[redacted:email]", 4111111111111111, 12, True, None),
    ]
    assert rule.arguments(value) == [
        *("a text of some length, in which nothing is found at all", "[omitted:130]"),
        *("[omitted:15]", "[omitted:2]", "", "[redacted:email]", "[omitted:16]", 12, True, None),
    ]
    assert rule.counts == {"omitted": 4}


def test_in_a_text_that_is_json_it_stays_json_where_looks_ran_out() -> None:
    text = json.dumps([f"line {n}\nmia{n}@example.org" for n in range(200)])
    rule = Redacting(find, NOBODY, most_effort=5_000)
    left = rule.text(text)
    assert "@" not in left
    assert rule.counts["omitted"] >= 1


def test_what_was_looked_at_before_needs_no_look_when_it_comes_again() -> None:
    rule = Redacting(find, NOBODY, most_effort=600)
    value = ["a word " * 9, "to mia@example.org"]
    assert rule.arguments(value * 3) == ["a word " * 9, "to [redacted:email]"] * 3
    assert rule.counts == {"email": 3}


def test_a_text_that_uncovers_something_again_and_again_is_left_out_and_not_let_through() -> None:
    def the_first(text: str) -> list[Found]:
        place = text.find("@")
        return [Found(place, place + 1, "email")] if place >= 0 else []

    rule = Redacting(the_first, NOBODY)
    assert rule.text("@" * 100) == "[omitted:100]"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[" + "[]," * 250_001 + '"\\u0061@b.cc"]', "[omitted:"),
        ("[" + "[]," * 250_001 + '"a@b.cc"]', "[omitted:"),
        ("[" + "[]," * 250_001 + "1]", "[[],"),
        ("[see] a@b.cc " + "," * 300_000, "[see] [redacted:email]"),
    ],
)
def test_a_text_of_more_json_than_anybody_parses_is_left_out_where_anything_may_be_in_it(text: str, left: str) -> None:
    assert Redacting(find, NOBODY).text(text).startswith(left)


def test_a_named_parameter_of_more_values_than_anybody_parses_goes_with_its_text() -> None:
    text = '{"pin":[' + "[]," * 250_001 + '0],"a":1}'
    assert Redacting(find, frozenset({"pin"})).text(text) == f"[omitted:{len(text)}]"


def test_what_has_no_width_hides_nothing_however_often_it_comes() -> None:
    text = "a\u200b " * 150_000 + "mi\u200ba@exam\u200bple.org and +44 7400\u200b 123456"
    found = find(text)
    assert [text[hit.start : hit.end] for hit in found] == ["mi\u200ba@exam\u200bple.org", "+44 7400\u200b 123456"]


@pytest.mark.parametrize("between", [", ", "\n", " or "])
def test_a_list_of_telephones_is_found_to_its_end_in_a_text_of_any_length(between: str) -> None:
    numbers = [f"415555{n:04d}" for n in range(100)]
    assert len(find("phone " + between.join(numbers))) == 100


def test_a_list_of_secrets_is_found_to_its_end() -> None:
    secrets = [f"aB1c{n:04d}/" + "xY7z" * 7 + "Qr4" for n in range(400)]
    assert len(find("aws " + " ".join(secrets))) == 400


# Values of parameters that have much in common with a text, or with each other.
VALUED: dict[str, tuple[list[str], Callable[[int], Any]]] = {
    "digits one by one": (["1" * 31 + "2"], lambda size: "1 " * (size // 2)),
    "digits in values": ([f"{n:010d}" for n in range(1000)], lambda size: list(range(10_000, 10_000 + size // 6))),
    "all that is said": (["4711"], lambda size: "4711 " * (size // 5)),
    "beginnings": (["a" * n + "b" for n in range(3, 31)], lambda size: "a" * size),
    "long ones": ([f"{'abc def ' * 20}{n}" for n in range(50)], lambda size: "abc def " * (size // 8)),
    "no borders": (
        [chr(0x4E00 + n) * 4 for n in range(1000)],
        lambda size: "".join(map(chr, range(0x4E00, 0x4E00 + size))),
    ),
    "escaped": (["O-12345"], lambda size: '"\\u0070in": "O\\u002d12345", ' * (size // 30)),
}


def effort_with_values(name: str, size: int) -> int:
    values, made = VALUED[name]
    rule = Redacting(find, frozenset({"pin"}), ParamValues(values))
    rule.arguments(made(size))
    return rule.effort


@pytest.mark.parametrize("name", VALUED)
def test_with_values_of_parameters_twice_as_much_takes_twice_as_long(name: str) -> None:
    once, twice = (effort_with_values(name, size) for size in (8_000, 16_000))
    assert twice <= 2.2 * once + 5_000


def test_of_thousand_values_in_a_body_of_prose_it_is_looked_at_to_its_end() -> None:
    text = "Please show me the status of my order, it was placed last week. Mia. " * 20 + "mia@example.org"
    known = ParamValues([*(f"{n:010d}" for n in range(500)), *(f"value{n:04d}" for n in range(500))])
    a_body = 10 * 1024 * 1024 / len(text)
    assert known.effort + (find(text).effort + known.find(text).effort) * a_body < MOST_EFFORT
    short = sum(find(f"value {n:06d}").effort + 20 + known.find(f"value {n:06d}").effort for n in range(100))
    assert known.effort + short * 2_500 < MOST_EFFORT


@given(texts)
def test_a_gate_that_is_closed_hides_nothing(text: str) -> None:
    seen = view_of(text).text
    for family, least, signs in (*_GATES, *_OF_DIGITS):
        if len(seen) < least or not any(sign in seen for sign in signs):
            assert not list(family(seen))


@given(st.lists(st.sampled_from(["\\\\", "\\n", "\\u00e9", "a", "u00", '\\"']), max_size=8).map("".join), st.data())
def test_a_cut_leaves_no_half_of_an_escape(inside: str, data: st.DataObject) -> None:
    token = _TOKEN.fullmatch(f'"{inside}"')
    assert token is not None
    place = data.draw(st.integers(1, len(inside) + 1))
    spans = [escape.span() for escape in _ESCAPE.finditer(token.string, 1, len(inside) + 1)]
    assert _behind_escape(token, place) == next((end for start, end in spans if start < place < end), place)


def test_a_body_full_of_short_values_is_looked_at_to_its_end() -> None:
    assert sum(find(f"value {n:06d}").effort + 20 for n in range(100)) * 2_500 < MOST_EFFORT


def test_a_body_full_of_ordinary_text_is_looked_at_to_its_end() -> None:
    text = "Please show me the status of my order, it was placed last week by mia@example.org. " * 20
    assert find(text).effort * (10 * 1024 * 1024 / len(text)) < MOST_EFFORT
