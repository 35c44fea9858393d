r"""Values that a pattern finds, and patterns that are refused: they could take without end on a user's words."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.waiting import Hint
from agent.core.waiting.pattern_risk import refused
from tests.core.waiting_answers import NOTHING, ORDER, answer


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("O-12345", "O-12345"),
        ("It's O-12345. When will it arrive?", "O-12345"),
        ("(O-12345)", "O-12345"),
        ("no, O-54321", "O-54321"),
        # "No, O-54321" corrects, and "please no O-54321" denies: without its mark it may be either.
        ("no O-54321", NOTHING),
        ("no. O-54321", "O-54321"),
        ("I meant O-1 not O-2", "O-1"),
        ("I mean O-1, not O-2", "O-1"),
        ("not O-1 but O-2", "O-2"),
        ("O-1 is wrong, O-2", "O-2"),
        ("it isn't O-1, it's O-2", "O-2"),
        ("O-1, no wait, O-2", "O-2"),
        ("O-1 ... sorry, O-2", "O-2"),
        ("actually O-5", "O-5"),
        ("O-1 and again O-1", "O-1"),
        ("订单是O-123。", "O-123"),
        ("رقم الطلب O-١٢٣", "O-123"),
        ("\uff2f\uff0d\uff11\uff12\uff13", "O-123"),
        ("O\u2013123", "O-123"),
        ("\u200eO-123\u200f", "O-123"),
        # In another case than the pattern has: as the pattern is written.
        ("o-12345", "O-12345"),
        ("O-1 or O-2", NOTHING),
        ("O-1, O-2", NOTHING),
        ("O-1, not O-1", NOTHING),
        ("not O-1", NOTHING),
        ("is it O-5?", NOTHING),
        ("maybe O-5", NOTHING),
        ("xO-1", NOTHING),
        ("O-12345-67", NOTHING),
        ("A-O-1", NOTHING),
        ("O-1.5", NOTHING),
        ("I lost it", NOTHING),
    ],
)
def test_what_matches_the_pattern_as_a_whole_word_is_the_value(text: str, value: Any) -> None:
    assert answer(text, ORDER) == value


def test_a_pattern_for_more_than_the_value_names_it() -> None:
    hint = Hint("order_id", pattern=r"(?i)order (?:no\. )?(?P<value>\d+)")
    assert answer("Order no. 123, please", hint) == "123"
    assert answer("123", hint) is NOTHING
    assert answer("order", Hint("x", pattern="order(?P<value>!)?")) is NOTHING


def test_a_pattern_in_small_letters_finds_what_was_said_in_capitals() -> None:
    assert answer("AB1", Hint("x", pattern="[a-z]+1")) == "ab1"
    assert answer("Ab1", Hint("x", pattern="[a-z][B]1|B")) is NOTHING


def test_a_pattern_beside_a_type_of_numbers_makes_a_number() -> None:
    assert answer("code 0042, please", Hint("x", "integer", pattern=r"\d{4}")) == "0042"
    assert answer("it's 4217", Hint("x", "integer", pattern=r"\d{4}")) == 4217
    assert answer("it's ab", Hint("x", "number", pattern="ab")) is NOTHING


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("SFO", "SFO"),
        ("I'd like SFO please", "SFO"),
        ("please", NOTHING),
        ("can I go", NOTHING),
        ("PLEASE NO", NOTHING),
        ("sfo", NOTHING),
        ("the one", NOTHING),
        ("I want ALL", "ALL"),
    ],
)
def test_a_word_of_any_sentence_is_no_code(text: str, value: Any) -> None:
    assert answer(text, Hint("airport", pattern="[A-Z]{3}")) == value


def test_a_pattern_of_given_words_takes_them_in_any_case() -> None:
    hint = Hint("side", pattern="north|south")
    assert [answer(text, hint) for text in ("North", "SOUTH please", "east")] == ["north", "south", NOTHING]


def test_long_clauses_and_long_messages_are_not_searched() -> None:
    assert answer("my " * 39 + "O-1", ORDER) == "O-1"
    assert answer("my " * 39 + "a O-1", ORDER) is NOTHING
    assert answer("my " * 70 + ", O-1", ORDER) == "O-1"
    assert answer("ah, " * 124 + "O-1", ORDER) == "O-1"
    assert answer("ah, " * 125 + "O-1", ORDER) is NOTHING


@pytest.mark.parametrize(
    "pattern",
    [
        r"O-\d+",
        r"[A-Z]{2,3}-?\d{4,8}(?:-\d{1,2})?",
        r"(?:ORD|O)-\d+",
        r"[\w.+-]+@[\w-]+\.[\w.-]+",
        r"(?i)(?P<value>a\d++)",
        r"\d{1,3}(?:,\d{3})*",
        r"(?<!x)a(?=b|$)",
        r"a{,3}{x}{}",
        r"[]a]+[^]\]-]",
        r"(?:a|b){1}",
        r"\(+\[\\",
    ],
)
def test_usual_patterns_are_taken(pattern: str) -> None:
    assert refused(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"(\d+)+", "has a repeat inside a repeat, or over alternatives"),
        (r"(?:a?){20}", "has a repeat inside a repeat, or over alternatives"),
        (r"(a|ab)*", "has a repeat inside a repeat, or over alternatives"),
        (r"((a|b)c){2,}", "has a repeat inside a repeat, or over alternatives"),
        (r"a*a*a*a*", "may be matched in too many ways"),
        (r"a{0,9}" * 8, "may be matched in too many ways"),
        ("(?:a|a)" * 25, "may be matched in too many ways"),
        (r"(a)\1", "refers back to a group"),
        (r"(?P<x>a)(?P=x)", "refers back to a group"),
        (r"(a)?(?(1)b|c)", "refers back to a group"),
        (r"(?x) a b", "is verbose"),
        (r"(?x:a b)", "is verbose"),
        (r"(?#note)a", "has a group of a kind that is not taken"),
        (r"[[a]]", "has a set inside a set"),
        (r"[a--b]", "has a set inside a set"),
        (r"[a", "is no regular expression"),
        (r"[]~~a", "is no regular expression"),
        (r"(a", "is no regular expression"),
        (r"a)", "is no regular expression"),
        (r"*", "is no regular expression"),
        ("a\\", "is no regular expression"),
        (r"a{3,1}", "is no regular expression"),
        (r"a(?i)", "is no regular expression"),
        ("a" * 301, "is longer than 300 characters"),
        ("", "is empty"),
        (" ", "is empty"),
    ],
)
def test_patterns_that_may_take_without_end_are_refused_with_the_reason(pattern: str, reason: str) -> None:
    assert refused(pattern) == reason


PARTS = st.sampled_from(
    [*"aA01.|()[]{}*+?^$-, ", r"\d", r"\w", r"\b", "(?:", "(?P<value>", "{2,}", "{1,3}", "[ab]", "[]", "~~", "(?i)"]
)


@given(st.lists(PARTS, max_size=20).map("".join))
def test_a_pattern_is_refused_or_compiles(pattern: str) -> None:
    reason = refused(pattern)
    if reason is None:
        assert re.compile(pattern)
        answer("a A 0-1 aaa", Hint("x", pattern=pattern))


@pytest.mark.parametrize("pattern", [r"[\w -]*[\w -]*[\w -]*!", r".*.*.*x", r"\w*a\w*a\w*!"])
def test_the_worst_of_what_is_taken_comes_to_an_end(pattern: str) -> None:
    assert answer("7 " * 59 + "a", Hint("x", pattern=pattern)) is NOTHING
