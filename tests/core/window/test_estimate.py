"""The estimator by itself: its laws, and about what it says of texts in many scripts. Compared with tokenizers in
tests/recall/tokens, which may import one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.turn import SessionTurn
from agent.core.window.estimate import Estimator
from tests.core.window.scripts import CODE, EMOJI, SPOKEN

ID = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"
ESTIMATE = Estimator()
# What makes pieces of a text grow together, or break.
pieces = st.sampled_from(
    ["a", "Word", "CAPS", "x1", "007", "1234", ".", "}}", "_", " ", "  ", "\n", "\r\n", "\t", "é", "完", "✅", "\x00"]
)
texts = st.lists(pieces, max_size=12).map("".join) | st.text()


def turn(content: str = "", calls: int = 0) -> SessionTurn:
    invocations = [{"tool_name": "n" * 30, "invocation_id": ID}] * calls
    return SessionTurn(ID, 1, ID, None, "assistant", content, erased=False, fields={"tool_invocations": invocations})


def test_it_says_that_it_is_an_estimate() -> None:
    assert (ESTIMATE.name, ESTIMATE.is_exact, ESTIMATE.overhead) == ("estimate", False, 3)


def test_nothing_is_no_token_and_something_is_at_least_one() -> None:
    assert ESTIMATE.text("") == 0
    assert [ESTIMATE.text(each) for each in (" ", "\n", "a", "\x00", "\ud800", "é")] >= [1] * 6
    assert ESTIMATE(turn()) >= 1


def test_a_turn_takes_strictly_more_with_each_call() -> None:
    tokens = [ESTIMATE(turn(calls=calls)) for calls in (0, 1, 8)]
    assert tokens[0] < tokens[1] < tokens[2]


@given(texts)
def test_any_text_is_counted_as_a_whole_number_between_its_characters_and_their_bytes(text: str) -> None:
    tokens = ESTIMATE.text(text)
    assert isinstance(tokens, int)
    assert (tokens >= 1) is bool(text)
    assert tokens <= 2 + 3.2 * len(text)


@given(texts, texts)
def test_a_longer_text_never_has_fewer_tokens(text: str, more: str) -> None:
    # Where the two meet, pieces grow together: a sign with the word behind it, a line break with the sign before it.
    assert ESTIMATE.text(text + more) >= max(ESTIMATE.text(text), ESTIMATE.text(more)) - 2
    assert ESTIMATE.text(text + " \n " + more) <= ESTIMATE.text(text) + ESTIMATE.text(more) + 4


@pytest.mark.parametrize("language", SPOKEN)
def test_other_scripts_take_more_tokens_a_character_than_a_quarter(language: str) -> None:
    assert ESTIMATE.text(SPOKEN[language]) > len(SPOKEN[language]) / 4


def test_the_newer_encoding_has_fewer_tokens_for_other_scripts_and_as_many_for_code() -> None:
    newer = Estimator("o200k_base")
    assert all(newer.text(text) < ESTIMATE.text(text) for text in (*SPOKEN.values(), EMOJI))
    assert newer.text(CODE) == ESTIMATE.text(CODE) == Estimator("cl100k_base").text(CODE)
