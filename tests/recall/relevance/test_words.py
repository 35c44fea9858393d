"""The words that relevance compares, in any script."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.recall.relevance.words import term, terms, words


def test_words_are_folded_and_parted_at_all_that_is_no_letter_or_number():
    assert words("Get_user(ID=42), Straße — ﬁne") == ["get", "user", "id", "42", "strasse", "fine"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("हिन्दी में किताब", ["हिन्दी", "में", "किताब"]),
        ("Где моя КНИГА", ["где", "моя", "книга"]),
        ("أين كتابي", ["أين", "كتابي"]),
        ("ελληνικά ΛΕΞΕΙΣ", ["ελληνικά", "λεξεισ"]),
        ("cafe\u0301 CAFÉ", ["café", "café"]),
    ],
)
def test_a_word_of_a_script_with_spaces_is_whole_with_its_marks(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("数据库", ["数据", "据库"]),
        ("用Python写", ["用", "python", "写"]),
        ("データ", ["デー", "ータ"]),
        ("데이터를 저장", ["데이", "이터", "터를", "저장"]),
        ("猫", ["猫"]),
    ],
)
def test_where_there_are_no_spaces_each_two_neighbours_are_a_word(text, expected):
    assert words(text) == expected


def test_one_query_finds_what_was_said_in_full_width_or_half():
    assert terms("\uff21\uff22\uff11 ｶﾅ") == terms("ab1 カナ") == ["ab1", "カナ"]


def test_small_words_are_no_terms():
    assert terms("What did the people say about it, and when?") == ["person", "say"]
    assert terms("¿Cuándo es la reunión?") == ["reunión"]


def test_forms_of_an_english_word_are_one_term():
    for one, other in [
        ("buy", "bought"),
        ("paints", "painting"),
        ("hobbies", "hobby"),
        ("moved", "moving"),
        ("stopped", "stop"),
        ("child", "children"),
    ]:
        assert terms(one) == terms(other) != []


def test_short_words_and_codes_keep_their_form():
    assert terms("bus gas K-12345 us3d ss") == ["bus", "gas", "k", "12345", "us3d", "ss"]


def test_a_huge_word_and_a_huge_text_are_cut_off():
    assert terms("x1" * 5000) == ["x1" * 32]
    assert len(terms("ab " * 100_000)) < 10_000


@given(st.text(st.characters(max_codepoint=sys.maxunicode), max_size=200))
def test_any_text_has_words_and_no_word_is_blank_or_long(text):
    for word in words(text):
        found = term(word)
        assert word.strip()
        assert found is None or 0 < len(found) <= 64


@given(st.text(max_size=80))
def test_case_makes_no_difference_to_ascii(text):
    plain = text.encode("ascii", "ignore").decode()
    assert terms(plain.upper()) == terms(plain.lower())
