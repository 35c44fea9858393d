"""A query without the names that every message says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.recall.semantic.nameless import nameless

TALK = [f"{name}: {said}" for name in ("Anna", "Ben") for said in ("hello", "the lake", "Bern", "rain", "yes") * 3]


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("What did Anna paint?", "What did paint?"),
        ("What is Ben's dog called?", "What is dog called?"),
        ("What is Ben\u2019s dog called?", "What is dog called?"),
        ("Did Anna and Ben go to Bern?", "Did and go to Bern?"),
        # A word without a capital is no name, however many say it; nor is one that few say.
        ("what did anna say of the lake", None),
        ("Was it Bern?", None),
        # Nothing would be left.
        ("Anna?", None),
        ("", None),
    ],
)
def test_names_go_and_the_rest_stays(query: str, left: str | None) -> None:
    assert nameless(query, TALK) == left


def test_in_a_short_conversation_no_word_is_a_name() -> None:
    assert nameless("What did Anna paint?", TALK[:9]) is None
    assert nameless("What did Anna paint?", TALK[:10]) == "What did paint?"


def test_a_name_is_said_by_a_fifth_of_the_messages() -> None:
    said = ["Anna: yes"] * 20 + ["no"] * 80
    assert nameless("Is Anna there?", said) == "Is there?"
    assert nameless("Is Anna there?", [*said, "no"]) is None


@given(st.text(max_size=40), st.lists(st.text(max_size=20), max_size=30))
def test_any_text_may_be_asked(query: str, texts: list[str]) -> None:
    left = nameless(query, texts)
    assert left is None or (left.strip() and left != query)
