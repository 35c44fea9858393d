"""Counts that are kept: nearly all of a growing session, none of an edited message, no more than there is room for."""

from __future__ import annotations

import threading
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.window.estimate import Estimator
from agent.recall.tokens.cache import Cached, CountCache
from tests.recall.tokens.conversations import turn


def cached(cache: CountCache) -> Cached:
    return Cached(Estimator(), cache, "estimate")


def test_over_a_growing_session_of_a_thousand_turns_nearly_all_counts_are_kept() -> None:
    cache = CountCache()
    count = cached(cache)
    turns = [turn(f"message {number} of a session that grows") for number in range(1000)]
    for asked in range(1, len(turns) + 1, 10):
        for each in turns[:asked]:
            count(each)
    assert cache.hits / (cache.hits + cache.misses) > 0.97
    assert cache.misses == 991


def test_asked_after_every_turn_each_message_is_counted_once() -> None:
    cache = CountCache()
    count = cached(cache)
    turns = [turn(f"message {number}") for number in range(200)]
    totals = [sum(map(count, turns[:asked])) for asked in range(len(turns) + 1)]
    assert cache.misses == len(turns)
    assert all(fewer < more for fewer, more in pairwise(totals))


def test_an_edited_message_is_counted_anew_and_an_equal_one_is_not() -> None:
    cache = CountCache()
    count = cached(cache)
    assert count(turn("first words")) == count(turn("first words", role="assistant"))
    assert count(turn("first words, and more of them")) > count(turn("first words"))
    assert (cache.misses, cache.hits) == (2, 2)


@given(st.lists(st.text(max_size=3), max_size=3), st.lists(st.text(max_size=3), max_size=3))
def test_texts_that_are_cut_otherwise_are_others(texts: list[str], others: list[str]) -> None:
    cache = CountCache()
    count = cached(cache)
    for arguments in (texts, others):
        made = turn(tool_invocations=[{"tool_name": text or "-", "native_id": "c"} for text in arguments])
        assert count(made) == Estimator()(made)


def test_counters_share_a_cache_without_sharing_counts() -> None:
    cache = CountCache()
    text = "我想改签航班"
    older, newer = (Cached(Estimator(name), cache, f"estimate {name}") for name in ("cl100k_base", "o200k_base"))
    assert [older(turn(text)), newer(turn(text))] == [
        Estimator(each)(turn(text)) for each in ("cl100k_base", "o200k_base")
    ]
    assert len(cache) == 2


def test_a_cached_counter_says_what_it_counts_by() -> None:
    count = cached(CountCache())
    assert (count.name, count.is_exact, count.overhead) == ("estimate", False, 3)


def test_a_cache_holds_no_more_than_it_may_and_keeps_what_is_asked_for() -> None:
    cache = CountCache(most=10)
    for number in range(1000):
        cache.put(b"%d" % number, number)
        assert cache.get(b"0") == 0
        assert len(cache) <= 10
    assert cache.get(b"1") is None
    assert cache.get(b"999") == 999


def test_a_count_that_is_kept_again_is_kept_once() -> None:
    cache = CountCache(most=4)
    for _ in range(9):
        cache.put(b"a", 1)
    assert (len(cache), cache.get(b"a")) == (1, 1)


@pytest.mark.parametrize("most", [0, 1, 2])
def test_the_smallest_cache_still_counts(most: int) -> None:
    count = cached(CountCache(most))
    assert [count(turn(text)) for text in "abcabc"] == [Estimator()(turn("a"))] * 6


def test_a_lone_surrogate_has_a_key() -> None:
    assert cached(CountCache())(turn("a\ud800")) >= 1


def test_threads_count_alike_and_every_question_is_a_hit_or_a_miss() -> None:
    cache = CountCache(most=50)
    count = cached(cache)
    turns = [turn("word " * number) for number in range(100)]
    alone = [Estimator()(each) for each in turns]
    found: list[list[int]] = []
    threads = [threading.Thread(target=lambda: found.append([count(each) for each in turns])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 8
    assert cache.hits + cache.misses == 800


@given(st.text(), st.booleans())
def test_a_message_of_content_alone_counts_as_one_that_is_kept_otherwise(text: str, is_named: bool) -> None:
    count = cached(CountCache())
    made = turn(text, metadata={"agent": "billing"} if is_named else {})
    assert [count(made), count(made)] == [Estimator()(made)] * 2


def test_a_cache_holds_no_content() -> None:
    cache = CountCache()
    cached(cache)(turn("the secret words"))
    assert "secret" not in repr(vars(cache))
