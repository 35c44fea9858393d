"""The estimate of tokens is a quarter of the bytes, whatever the script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.observability.token_estimate import estimated_tokens


@pytest.mark.parametrize(
    ("texts", "tokens"),
    [
        ([], 0),
        ([""], 0),
        (["a"], 1),
        (["four"], 1),
        (["fives"], 2),
        (["Where is parcel 4471?", "Let me check."], 6 + 4),
        # Three bytes a character: o200k counts 36 tokens in the first, 30 in the second.
        (["我想查询一下我的订单状态,订单号是多少我不太记得了,可以用手机号码查询吗?请帮我看看包裹什么时候能到。"], 37),
        (["注文の状況を確認したいのですが、注文番号を忘れてしまいました。電話番号で調べることはできますか。"], 36),
        (["\ud800"], 1),
    ],
)
def test_texts_are_estimated_one_by_one(texts: list[str], tokens: int) -> None:
    assert estimated_tokens(texts) == tokens


@given(st.lists(st.text()))
def test_it_is_never_below_a_quarter_of_the_characters_nor_above_their_number(texts: list[str]) -> None:
    assert sum(map(len, texts)) / 4 <= estimated_tokens(texts) <= sum(map(len, texts))


@given(st.lists(st.text()), st.lists(st.text()))
def test_more_texts_are_more_tokens(some: list[str], more: list[str]) -> None:
    assert estimated_tokens(some + more) == estimated_tokens(some) + estimated_tokens(more)
