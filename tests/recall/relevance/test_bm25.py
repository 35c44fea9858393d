"""The index against BM25 written down plainly, and the laws that a reader relies on."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.recall.relevance.bm25 import K1, RARE, B, Bm25Index
from agent.recall.relevance.words import terms

said = st.lists(st.sampled_from(["paris", "train", "tennis", "дом", "数据库", "x1", "the"]), max_size=12).map(" ".join)
corpora = st.lists(said, max_size=12)


def index_of(*texts):
    index = Bm25Index()
    index.extend(texts)
    return index


def plain_bm25(texts, asked):
    rows = [Counter(terms(text)) for text in texts]
    average = max(1, sum(map(Counter.total, rows))) / max(1, len(rows))
    scores = []
    for row in rows:
        score = 0.0
        for word in set(asked):
            having = sum(word in other for other in rows)
            idf = math.log(1 + (len(rows) - having + 0.5) / (having + 0.5)) ** RARE
            score += idf * row[word] * (K1 + 1) / (row[word] + K1 * (1 - B + B * row.total() / average))
        scores.append(score)
    return scores


@given(corpora, said)
def test_it_scores_as_bm25_written_down_plainly(texts, query):
    assert index_of(*texts).scores(terms(query)) == pytest.approx(plain_bm25(texts, terms(query)))


@given(corpora, corpora, said)
def test_an_index_that_grew_is_as_one_that_was_made_at_once(before, after, query):
    grown = index_of(*before)
    grown.rank(query)
    for text in after:
        grown.extend([text])
    assert grown.rank(query) == index_of(*before, *after).rank(query)


@given(corpora, said)
def test_the_same_rows_and_query_have_the_same_ranks(texts, query):
    ranks = index_of(*texts).rank(query)
    assert ranks == index_of(*texts).rank(query)
    assert len(ranks) == len(texts)
    assert all(rank >= 0 and math.isfinite(rank) for rank in ranks)


@pytest.mark.parametrize("query", ["", "   ", "the of and", "?!", "nobody said it"])
def test_a_query_without_a_word_of_theirs_ranks_nothing(query):
    assert index_of("the train to Paris", "tennis").rank(query) == [0.0, 0.0]


def test_no_rows_have_no_ranks():
    assert Bm25Index().rank("anything") == []
    assert index_of("", "").rank("anything") == [0.0, 0.0]


def test_a_rare_word_counts_for_more_than_a_common_one():
    ranks = index_of("green tea", "black tea", "tea with Amelia").rank("Amelia's tea")
    assert max(ranks) == ranks[2]


def test_a_word_in_a_short_row_counts_for_more():
    short, long = index_of("refund", f"refund {'of many other things ' * 9}").scores(["refund"])
    assert short > long


def test_what_stands_out_in_the_best_row_finds_others():
    index = index_of("my pets are turtles, two turtles", "turtles eat lettuce", "the weather is fine", "rain again")
    ranks = index.rank("Which pets?")
    assert ranks[0] > ranks[1] > ranks[2] == ranks[3] == 0


def test_many_of_one_word_and_huge_words_are_taken():
    index = index_of("spam " * 3000, "spam", "y" * 100_000)
    assert all(rank > 0 for rank in index.rank("spam")[:2])
    assert index.rank("y" * 70)[2] > 0


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我们昨天讨论了数据库的问题", "数据库"),
        ("прочитала новую книгу", "книгу"),
        ("किताब मेज़ पर है", "किताब कहाँ है"),
        ("ฉันชอบแมวมาก", "แมว"),
        ("예약을 취소했어요", "예약 취소"),
    ],
)
def test_words_of_any_script_are_found(text, query):
    ranks = index_of("something else", text, "другое дело").rank(query)
    assert ranks[1] > ranks[0] == ranks[2] == 0
