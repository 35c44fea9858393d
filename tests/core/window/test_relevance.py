"""Relevance, neighbours, importance and recency put together: pure arithmetic over three lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.window.relevance import IMPORTANCE, NEIGHBOUR, RECENCY, fused

pairs = st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1)), max_size=40)


def test_a_neighbour_of_a_hit_is_lifted_and_less_the_farther_it_is():
    hit, beside, two_off, three_off, far = fused([9.0, 0, 0, 0, 0], [0.0] * 5)
    assert hit > beside > two_off > three_off > far
    assert beside == pytest.approx(hit * NEIGHBOUR, abs=RECENCY)


def test_it_lifts_in_both_directions():
    before, hit, behind = fused([0.0, 3.0, 0.0], [0.0] * 3)
    assert before == pytest.approx(behind, abs=RECENCY)
    assert hit > behind > 0.5


def test_of_two_neighbours_the_more_relevant_one_lifts():
    far_best = [0.0] * 5 + [10.0]
    with_another, alone = (fused([2.0, 0, other, *far_best], [0.0] * 9)[1] for other in (1.0, 0.0))
    assert with_another == pytest.approx(alone, abs=0.001)


def test_importance_decides_between_turns_that_are_as_relevant():
    first, second = fused([1.0, 1.0], [0.9, 0.1])
    assert first > second


def test_without_a_hit_importance_and_then_recency_decide():
    scores = fused([0.0] * 3, [0.5, 0.5, 0.9])
    assert scores[2] > scores[1] > scores[0]
    assert max(scores) <= IMPORTANCE + RECENCY


def test_no_turns_have_no_scores_and_lists_of_two_lengths_are_refused():
    assert fused([], []) == []
    with pytest.raises(ValueError, match="zip"):
        fused([1.0], [])


def test_what_is_below_zero_has_nothing_to_do_with_the_query():
    assert fused([-3.0, 1.0], [0.0, 0.0]) == fused([0.0, 1.0], [0.0, 0.0])


@given(pairs)
def test_every_score_is_from_0_to_1(each):
    scores = fused([one for one, _ in each], [other for _, other in each])
    assert len(scores) == len(each)
    assert all(0 <= score <= 1 for score in scores)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30), st.sampled_from([0.5, 2.0, 1024.0]))
def test_the_scale_of_relevance_makes_no_difference(relevance, factor):
    nothing = [0.0] * len(relevance)
    assert fused([each * factor for each in relevance], nothing) == pytest.approx(fused(relevance, nothing))
