"""What holds for every window: of any conversation, by every strategy, for every budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.pairs import Call, Place
from agent.core.turn import SessionTurn
from agent.core.window.policy import STRATEGIES, Policy, Thresholds
from agent.core.window.prepared import Prepared, Task, prepare
from agent.core.window.window import Window, cut_window
from agent.errors import BudgetTooSmall
from tests.core.window.laws import broken_laws
from tests.core.window.turns import Failing, Quarters, conversations

MARKERS = ("... [{count} messages removed] ...", "[Earlier messages truncated]", "…", "{count}")
counters = st.sampled_from([Quarters(), Quarters(overhead=0), Quarters(is_exact=False), Failing(word="message so")])


def by_length(messages: list[SessionTurn], pairs: dict[Place, Call]) -> list[float]:
    """Scores that differ from turn to turn."""
    return [(turn.seq * 7 + len(turn.content or "")) % 10 / 10 for turn in messages]


def by_number(messages: Sequence[SessionTurn], query: str) -> list[float]:
    """A ranker that nobody asked for."""
    return [turn.seq * 5 % 7 for turn in messages]


@st.composite
def segmenters(draw: st.DrawFn) -> Any:
    """Any segments, at users' messages or elsewhere, and any links."""
    every, done, linked = draw(st.integers(1, 6)), draw(st.sets(st.integers(0, 9))), draw(st.booleans())

    def segmenter(messages: list[SessionTurn], pairs: Any) -> Any:
        starts = [*range(0, len(messages), every), len(messages)]
        tasks = [Task(start, end, complete=number in done) for number, (start, end) in enumerate(pairwise(starts))]
        links = [(0, len(messages) // 2)] if linked and len(messages) > 2 else []
        return tasks, links

    return segmenter


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    mode = draw(st.sampled_from(["max_tokens", "max_tokens", "model_limit", "history"]))
    tokens = draw(st.integers(-3, 700) | st.integers(0, 90))
    high = draw(st.sampled_from([0.5, 0.8]))
    return Policy(
        strategy=draw(st.sampled_from(STRATEGIES)),
        max_tokens=tokens if mode == "max_tokens" else None,
        model_limit=tokens if mode == "model_limit" else None,
        max_history_tokens=tokens,
        max_messages=draw(st.none() | st.integers(1, 12)),
        min_recent=draw(st.integers(0, 5)),
        thresholds=Thresholds(high, 0.9, 0.4),
        marker=draw(st.sampled_from(MARKERS)),
        query=draw(st.none() | st.just("and which of them?")),
        user_first=draw(st.booleans()),
    )


def prepared(messages: list[SessionTurn], count: Quarters, segmenter: Any) -> Prepared:
    return prepare(messages, count, scorer=by_length, segmenter=segmenter)


def laws_of(ready: Prepared, policy: Policy, window: Window) -> list[str]:
    links = [tuple(ready.normalised.places[place] for place in link) for link in ready.links]
    return broken_laws(ready.messages, None, policy, ready.count, window, links=links)


def cut_or_none(ready: Prepared, policy: Policy) -> Window | None:
    """None where the budget is too small, which ``test_the_number_that_is_needed_is_exact`` looks into."""
    try:
        return cut_window(ready, policy, ranker=by_number)
    except BudgetTooSmall:
        return None


@given(conversations(), policies(), counters, segmenters())
def test_every_window_keeps_every_law(
    messages: list[SessionTurn], policy: Policy, count: Quarters, segmenter: Any
) -> None:
    ready = prepared(messages, count, segmenter)
    window = cut_or_none(ready, policy)
    if window is None:
        return
    assert laws_of(ready, policy, window) == []
    again = cut_window(prepared(messages, count, segmenter), policy, ranker=by_number)
    assert (again, again.manifest.hash) == (window, window.manifest.hash)


@given(conversations(), policies(), counters, segmenters())
def test_the_number_that_is_needed_is_exact(
    messages: list[SessionTurn], policy: Policy, count: Quarters, segmenter: Any
) -> None:
    ready = prepared(messages, count, segmenter)
    with pytest.raises(BudgetTooSmall) as refused:
        cut_window(ready, replace(policy, max_tokens=0))
    needed = refused.value.needed
    fitting = replace(policy, max_tokens=needed)
    assert laws_of(ready, fitting, cut_window(ready, fitting)) == []
    with pytest.raises(BudgetTooSmall) as again:
        cut_window(ready, replace(policy, max_tokens=needed - 1))
    assert (again.value.needed, again.value.budget) == (needed, needed - 1)
