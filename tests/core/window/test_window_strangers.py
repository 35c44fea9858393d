"""Counters, scorers and rankers are anybody's code: what they do ends no window, and changes no other one."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from agent.core.turn import SessionTurn
from agent.core.window.counting import counted
from agent.core.window.policy import STRATEGIES, Policy
from agent.core.window.prepared import Prepared, prepare
from agent.core.window.window import Window, build_window, cut_window
from tests.core.window.laws import broken_laws
from tests.core.window.turns import Failing, Quarters, numbered, rows, said, user

COUNT = Quarters()
# A marker for so many turns is counted wrong, or a message that was cut is.
FAILING = (Failing(word="[12 messages"), Failing(word="[1 messages"), Failing(word="characters removed"))


def cuts(ready: Prepared, budgets: Sequence[int]) -> dict[tuple[str, int], tuple[Window, str]]:
    found: dict[tuple[str, int], tuple[Window, str]] = {}
    for strategy in STRATEGIES:
        for tokens in budgets:
            window = cut_window(ready, Policy(strategy, max_tokens=tokens, min_recent=0), ranker=by_number)
            found[strategy, tokens] = window, window.manifest.hash
    return found


def by_number(turns: Sequence[SessionTurn], query: str) -> list[float]:
    return [turn.seq * 5 % 7 for turn in turns]


@pytest.mark.parametrize("count", FAILING)
def test_what_a_counter_failed_for_in_one_cut_is_no_part_of_another(count: Failing) -> None:
    budgets = [*range(60, 400, 20), *range(1000, 1500, 50)]
    alone: dict[tuple[str, int], tuple[Window, str]] = {}
    for tokens in budgets:
        alone |= cuts(prepare(rows(12), count), [tokens])
    ready = prepare(rows(12), count)
    assert cuts(ready, budgets) == alone
    assert cuts(ready, budgets[::-1]) == alone
    shared = prepare(rows(12), count)
    with ThreadPoolExecutor(4) as threads:
        assert all(found == alone for found in threads.map(lambda _: cuts(shared, budgets), range(4)))


@pytest.mark.parametrize("count", FAILING)
def test_the_manifest_tells_of_every_message_of_the_window_that_was_estimated(count: Failing) -> None:
    told = set()
    for tokens in range(60, 2600, 40):
        policy = Policy("rolling_window", max_tokens=tokens, min_recent=0)
        window = build_window(rows(12), policy, count)
        assert broken_laws(rows(12), None, policy, count, window) == []
        failed = sum(count.word in (turn.content or "") for turn in window.messages)
        told.add(failed)
        assert (window.manifest.estimated, window.manifest.is_exact and failed > 0) == (failed, False)
    assert told == {0, 1}


def test_a_query_that_is_estimated_is_told_and_5_percent_are_kept_free() -> None:
    count = Failing()
    query = said(1, "user", "is it poison")
    for limit in range(1000, 2000, 30):
        policy = Policy("rolling_window", model_limit=limit)
        sure = build_window(rows(40), replace(policy, query="what is it"), count).manifest
        asked = build_window(rows(40), replace(policy, query=query.content), count).manifest
        assert [(each.estimated, each.is_exact) for each in (sure, asked)] == [(0, True), (1, False)]
        assert asked.tokens + counted(query, count).tokens <= 0.6 * limit * 0.95


def test_a_scorer_or_ranker_that_takes_apart_what_it_is_given_changes_no_window() -> None:
    def spoiling(turns: Any, *_: Any) -> list[float]:
        scores = [1.0] * len(turns)
        turns.clear()
        return scores

    history = rows(20)
    truncated = build_window(history, Policy(max_tokens=500), COUNT)
    scored = build_window(history, Policy("importance", max_tokens=500), COUNT, scorer=spoiling)
    ranked = build_window(history, Policy("relevant", max_tokens=500), COUNT, ranker=spoiling)
    assert [scored.manifest.fallback, ranked.manifest.fallback] == ["scorer_failed", "ranker_failed"]
    assert scored.messages == ranked.messages == truncated.messages


def test_a_list_that_goes_on_after_it_was_prepared_changes_no_window() -> None:
    history = rows(20)
    ready = prepare(history, COUNT)
    before = cut_window(ready, Policy(max_tokens=500))
    choices = before.manifest.choices
    history.clear()
    assert cut_window(ready, Policy(max_tokens=500)) == before
    assert cut_window(ready, Policy(max_tokens=500)).manifest.choices == choices


def nested(depth: int) -> Any:
    found: Any = "deep"
    for _ in range(depth):
        found = {"a": [found]}
    return found


class Wrong(Quarters):
    """Quarters in name; it gives, or raises, ``answer``."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        object.__setattr__(self, "answer", answer)

    def __call__(self, turn: SessionTurn) -> int:
        answer: Any = self.answer  # type: ignore[attr-defined] # it is frozen, and set above
        if isinstance(answer, Exception):
            raise answer
        found: int = answer
        return found


@pytest.mark.parametrize("answer", [RecursionError(), MemoryError(), 10**400, -1, None])
def test_a_counter_that_fails_for_all_leaves_all_to_the_estimator(answer: Any) -> None:
    manifest = build_window(rows(4), Policy(max_tokens=4000), Wrong(answer)).manifest
    assert (manifest.kept, manifest.estimated, manifest.is_exact) == (8, 8, False)
    assert manifest.percent_used < 100


def test_where_the_estimator_fails_too_every_character_is_a_token() -> None:
    turn = said(1, "assistant", "words", {"tool_name": "look", "arguments": nested(20_000)})
    manifest = build_window([turn], Policy(max_tokens=10**6), Wrong(RecursionError())).manifest
    assert (manifest.kept, manifest.estimated) == (1, 1)
    assert manifest.tokens > 20_000


def test_an_overhead_that_no_model_has_is_none() -> None:
    for overhead in (10**400, -1, "3", None):
        count = Quarters(overhead=overhead)  # type: ignore[arg-type] # wrong on purpose
        assert build_window(numbered(user(40)), Policy(max_tokens=100), count).manifest.tokens == 14
