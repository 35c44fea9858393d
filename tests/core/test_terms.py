"""The terms of messages: words in any script, and each of them is found by the store's search."""

from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.terms import is_unspaced, terms
from store.lists.words import wanted, words


def of(*texts: str) -> list[list[str]]:
    """The terms of each text, in order, as often as they come."""
    return [list(counts.elements()) for counts in terms(texts)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Kubernetes cluster is down", ["kubernetes", "cluster", "down"]),
        ("don't we'll I\u2019ve Anna's", ["anna"]),
        ("snake_case mail@example.com", ["snake", "case", "mail", "example"]),
        ("O-12345 fdz0t5 hat136 2026 v2", []),
        ("gpt4 k8s h264 covid19", ["gpt4", "k8s", "covid19"]),
        ("ﬁnal \uff23ASE STRASSE straße", ["final", "case", "strasse", "strasse"]),
        ("Zoe\u0308 Zoë", ["zoë", "zoë"]),
        ("co\u00adop\u200beration", ["cooperation"]),
        ("दिल्ली से मुंबई", ["दिल्ली", "मुंबई"]),
        ("Как приготовить борщ", ["приготовить", "борщ"]),
        ("خطة السفر", ["خطة", "السفر"]),
        ("서울에서 김치찌개는", ["서울", "김치찌개"]),
        ("데이터베이스 DB", ["데이터베이스"]),
        ("データベースに接続", ["データベース", "接続"]),
        ("ありがとう", []),
        ("东京的机票", ["东京", "机票"]),
        ("我在想", []),
        ("ア", []),
        ("", []),
    ],
)
def test_a_text_has_the_terms_of_its_script(text: str, found: list[str]) -> None:
    assert of(text) == [found]


def test_without_spaces_a_term_is_what_comes_again_as_far_as_it_goes() -> None:
    assert of("怎样防止机器学习过拟合", "机器学习过拟合是模型问题") == [
        ["机器学习过拟合"],
        ["机器学习过拟合", "模型问题"],
    ]
    assert of("红烧肉的酱油", "做红烧肉", "红烧肉") == [["红烧肉", "酱油"], ["红烧肉"], ["红烧肉"]]


def test_a_sentence_that_comes_again_is_no_term_and_what_comes_more_often_in_it_is() -> None:
    assert of("天地玄黄宇宙洪荒日月", "天地玄黄宇宙洪荒日月") == [[], []]
    assert of("天地玄黄宇宙洪荒日月", "天地玄黄宇宙洪荒日月", "宇宙洪") == [["宇宙洪"]] * 3
    assert of("天地玄黄宇宙洪", "天地玄黄宇宙洪") == [["天地玄黄宇宙洪"]] * 2


def test_a_part_that_comes_more_often_than_the_whole_is_a_term_beside_it() -> None:
    assert of("红烧肉", "红烧肉", "红烧鱼", "红烧鱼") == [["红烧", "红烧肉"]] * 2 + [["红烧", "红烧鱼"]] * 2


def test_thai_parts_by_what_comes_again_with_its_marks() -> None:
    assert of("จองตั๋วเครื่องบินไป", "ตั๋วเครื่องบินใบเดียว") == [["ตั๋วเครื่องบิน"], ["ตั๋วเครื่องบิน"]]
    assert of("จองตั๋วเครื่องบินไป") == [[]]


def test_numbers_part_scripts_without_spaces() -> None:
    assert of("ก๑๒๓ขคงจ", "ข๑๒๓ขคงจ") == [["ขคงจ"], ["ขคงจ"]]


@pytest.mark.parametrize("letter", ["w", "ア", "서", "ж", "e\u0301", "क\u094d"])
def test_a_word_of_more_than_64_characters_is_no_term(letter: str) -> None:
    shortest = len(normalize("NFKC", letter))
    assert [len(each) for each in of(letter * (64 // shortest))[0]] == [64]
    assert of(letter * (64 // shortest + 1)) == [[]]
    assert of(f"{letter * 600} voltage") == [["voltage"]]


def test_marks_make_no_term_longer() -> None:
    again = "ก" + "\u0e34" * 200 + "ขคง"
    assert of(f"{again} {again}") == [[]]


@pytest.mark.parametrize(
    ("term", "unspaced"), [("東京", True), ("서울", True), ("エラー", True), ("tokyo", False), ("é", False)]
)
def test_scripts_without_spaces_are_known(term: str, unspaced: bool) -> None:
    assert is_unspaced(term) is unspaced


SCRIPTS = (
    "aZé1२'\u2019_ -\u0301\u00ad\u200dअि東京过ไทยกิกำ๑カﾞーが서울ㄱ\u1112\u1161\u11abБй\u0627\u064bא😀№①½㍿ﷺİıſ\ud7b0𠀀ꀀ"
)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.text(alphabet=st.sampled_from(SCRIPTS), max_size=40) | st.text(max_size=40), max_size=4))
def test_a_term_is_found_by_the_stores_search_in_the_text_that_has_it(texts: list[str]) -> None:
    for text, counts in zip(texts, terms(texts), strict=True):
        for term in counts:
            assert wanted(term)
            assert wanted(term) <= words(text)


@given(st.lists(st.text(alphabet=st.sampled_from("abc def的京东旅行 "), max_size=30), max_size=5))
def test_the_order_of_messages_changes_no_terms(texts: list[str]) -> None:
    assert list(terms(texts)) == list(terms(texts[::-1]))[::-1]
