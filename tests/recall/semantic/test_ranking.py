"""Words and meaning put together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.recall.semantic.ranking import combined

pairs = st.lists(st.tuples(st.floats(0, 50), st.floats(0, 1)), max_size=20)


@given(pairs)
def test_scores_are_0_to_1_and_the_best_is_1_where_anything_is_found(given_pairs: list[tuple[float, float]]) -> None:
    words, meaning = [pair[0] for pair in given_pairs], [pair[1] for pair in given_pairs]
    scores = combined(words, meaning)
    assert len(scores) == len(words)
    assert all(0 <= score <= 1 for score in scores)
    # Of what is smaller than any score that is real, a square may be 0.
    if max(words, default=0) > 1e-100:
        assert max(scores) == 1


@given(pairs)
def test_what_is_better_by_both_is_not_worse(given_pairs: list[tuple[float, float]]) -> None:
    scores = combined([pair[0] for pair in given_pairs], [pair[1] for pair in given_pairs])
    for one, score in zip(given_pairs, scores, strict=True):
        for other, its_score in zip(given_pairs, scores, strict=True):
            if one[0] >= other[0] and one[1] >= other[1]:
                assert score >= its_score


def test_each_finds_what_the_other_does_not() -> None:
    assert combined([3.0, 0.0, 0.0], [0.0, 0.0, 0.0]) == [1.0, 0.0, 0.0]
    assert combined([0.0, 0.0, 0.0], [0.1, 0.8, 0.0])[1] == 1.0
    scores = combined([4.0, 0.0, 0.1], [0.1, 0.9, 0.1])
    assert scores[0] > scores[2]
    assert scores[1] > scores[2]


def test_scores_of_other_messages_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        combined([1.0], [1.0, 0.5])
