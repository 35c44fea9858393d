"""Completed tasks go whole and first; an error and its correction go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agent.core.turn import SessionTurn
from agent.core.window.policy import Policy
from agent.core.window.prepared import Prepared, Task, prepare
from agent.core.window.window import Window, cut_window
from tests.core.window.laws import broken_laws
from tests.core.window.turns import Quarters, rows

COUNT = Quarters(overhead=0)
# 30 exchanges of 208 tokens: turns 1 and 2, 3 and 4, ...
HISTORY = rows(30)
WHOLE = 30 * 208


def ready(tasks: Sequence[tuple[int, int, bool]], links: Sequence[tuple[int, int]] = ()) -> Prepared:
    """The history with segments of it, and scores that rise from 0 to 1."""

    def scorer(messages: Sequence[SessionTurn], pairs: Any) -> list[float]:
        return [turn.seq / 100 for turn in messages]

    return prepare(
        HISTORY, COUNT, scorer=scorer, segmenter=lambda messages, pairs: ([Task(*each) for each in tasks], links)
    )


def cut(prepared: Prepared, policy: Policy, links: Sequence[tuple[int, int]] = ()) -> Window:
    found = cut_window(prepared, policy)
    assert broken_laws(HISTORY, None, policy, COUNT, found, links=links) == []
    return found


def dropped(found: Window, reason: str) -> list[int]:
    return [choice.seq for choice in found.manifest.choices if choice.reason == reason]


def of_model(share: float, strategy: str = "rolling_window", min_recent: int = 2) -> Policy:
    """The whole conversation is ``share`` of the limit."""
    return Policy(strategy, model_limit=int(WHOLE / share), max_messages=None, min_recent=min_recent)


BOUNDARY = [(0, 10, True), (10, 20, True), (20, 58, True), (58, 60, False)]


def test_at_a_task_boundary_completed_tasks_go_oldest_first_until_usage_is_at_the_target() -> None:
    found = cut(ready(BOUNDARY), of_model(0.7))
    assert dropped(found, "task_complete") == list(range(1, 11))
    assert found.manifest.dropped == 10
    assert found.manifest.tokens <= 0.6 * WHOLE / 0.7
    more = cut(ready(BOUNDARY), of_model(0.8))
    assert dropped(more, "task_complete") == list(range(1, 21))


def test_within_a_task_nothing_goes_below_the_threshold() -> None:
    within = [(0, 10, True), (10, 20, True), (20, 60, False)]
    assert cut(ready(within), of_model(0.7)).manifest.dropped == 0
    begun = [(0, 10, True), (10, 20, True), (20, 50, False), (50, 60, False)]
    assert cut(ready(begun), of_model(0.7)).manifest.dropped == 0


def test_at_the_target_nothing_goes() -> None:
    assert cut(ready(BOUNDARY), of_model(0.6)).manifest.dropped == 0


def test_a_task_that_is_not_complete_or_reaches_into_the_newest_messages_stays() -> None:
    tasks = [(0, 10, False), (10, 20, True), (20, 56, False), (56, 58, True), (58, 60, False)]
    found = cut(ready(tasks), of_model(0.8, min_recent=4))
    assert dropped(found, "task_complete") == list(range(11, 21))


@pytest.mark.parametrize("strategy", ["rolling_window", "importance", "hybrid", "truncate"])
def test_what_goes_with_its_task_does_not_come_back_where_the_rest_is_cut(strategy: str) -> None:
    found = cut(ready(BOUNDARY), of_model(0.95, strategy))
    assert set(dropped(found, "task_complete")) >= set(range(1, 21))


def test_importance_keeps_the_current_task_before_a_completed_one_that_scores_higher() -> None:
    tasks = [(0, 20, False), (20, 60, True)]
    found = cut(ready(tasks), Policy("importance", max_tokens=1500, min_recent=2))
    kept = [choice.seq for choice in found.manifest.choices if choice.kept]
    assert kept == [*range(11, 21), 57, 58, 59, 60] or set(kept) >= set(range(11, 21))


def test_an_error_and_its_correction_are_kept_together_or_not_at_all() -> None:
    links = [(1, 56)]
    for tokens in range(500, 1600, 50):
        policy = Policy("importance", max_tokens=tokens, min_recent=0)
        kept = {
            choice.seq for choice in cut(ready([(0, 60, False)], links), policy, links).manifest.choices if choice.kept
        }
        assert ({1, 2} <= kept) == ({57, 58} <= kept)


def test_a_correction_among_the_newest_messages_brings_its_error() -> None:
    links = [(1, 58)]
    policy = Policy("importance", max_tokens=700, min_recent=2)
    found = cut(ready([(0, 60, False)], links), policy, links)
    assert [choice.seq for choice in found.manifest.choices if choice.kept] == [1, 2, 57, 58, 59, 60]


@pytest.mark.parametrize(
    ("tasks", "links"),
    [
        ([(0, 10, True)], []),
        ([(0, 30, True), (31, 60, False)], []),
        ([], []),
        ([(0, 60, False)], [(0, 60)]),
        ([("a", "b", "c")], []),
    ],
)
def test_where_a_segmenter_fails_truncate_takes_over(tasks: Any, links: Any) -> None:
    prepared = ready(tasks, links)
    for policy in (Policy("importance", max_tokens=900), of_model(0.95)):
        found = cut_window(prepared, policy).manifest
        assert (found.strategy, found.fallback) == ("truncate", "scorer_failed")
        assert not dropped(cut_window(prepared, policy), "task_complete")
