"""What a policy may say, and what is refused by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.core.window.counting import MOST_TOKENS
from agent.core.window.policy import STRATEGIES, Policy, Thresholds
from agent.core.window.window import build_window
from agent.errors import BudgetTooSmall, ValidationError
from tests.core.window.turns import Quarters, rows


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_is_taken(strategy: str) -> None:
    assert Policy(strategy).strategy == strategy


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"strategy": "summarize"}, ("$.strategy", "unsupported")),
        ({"strategy": "random"}, ("$.strategy", "enum")),
        ({"min_recent": -1}, ("$.min_recent", "minimum")),
        ({"max_messages": 0}, ("$.max_messages", "minimum")),
        ({"thresholds": Thresholds(0.8, 0.7, 0.6)}, ("$.thresholds", "order")),
        ({"thresholds": Thresholds(0.5, 0.9, 0.6)}, ("$.thresholds", "order")),
        ({"thresholds": Thresholds(0.8, 1.1, 0.6)}, ("$.thresholds", "order")),
        ({"thresholds": Thresholds(0.8, 0.9, 0.0)}, ("$.thresholds", "order")),
        ({"thresholds": Thresholds(float("nan"), 0.9, 0.6)}, ("$.thresholds", "order")),
        ({"marker": " \n"}, ("$.marker", "minLength")),
        ({"max_tokens": "4000"}, ("$.max_tokens", "type")),
        ({"model_limit": 1.5}, ("$.model_limit", "type")),
        ({"max_history_tokens": None}, ("$.max_history_tokens", "type")),
        ({"min_recent": True}, ("$.min_recent", "type")),
        ({"max_tokens": True}, ("$.max_tokens", "type")),
        ({"max_history_tokens": 6000.0}, ("$.max_history_tokens", "type")),
        ({"max_tokens": 10**400}, ("$.max_tokens", "maximum")),
        ({"model_limit": 10**400}, ("$.model_limit", "maximum")),
        ({"max_history_tokens": 10**400}, ("$.max_history_tokens", "maximum")),
        ({"max_messages": 10**400}, ("$.max_messages", "maximum")),
        ({"min_recent": 10**400}, ("$.min_recent", "maximum")),
        ({"model_limit": -(10**400)}, ("$.model_limit", "minimum")),
        ({"strategy": None}, ("$.strategy", "type")),
        ({"strategy": ["truncate"]}, ("$.strategy", "type")),
        ({"thresholds": (0.8, 0.9, 0.6)}, ("$.thresholds", "type")),
        ({"thresholds": None}, ("$.thresholds", "type")),
        ({"thresholds": Thresholds("0.8", "0.9", "0.6")}, ("$.thresholds", "type")),  # type: ignore[arg-type] # wrong on purpose
        ({"thresholds": Thresholds(True, True, True)}, ("$.thresholds", "type")),
        ({"thresholds": Thresholds(0.8, 10**400, 0.6)}, ("$.thresholds", "order")),
        ({"marker": 5}, ("$.marker", "type")),
        ({"marker": None}, ("$.marker", "type")),
        ({"marker": "\ud83d {count}"}, ("$.marker", "unicode")),
        ({"query": 5}, ("$.query", "type")),
        ({"user_first": None}, ("$.user_first", "type")),
    ],
)
def test_what_no_window_can_be_cut_by_is_refused_by_name(members: dict[str, Any], problem: tuple[str, str]) -> None:
    with pytest.raises(ValidationError) as refused:
        Policy(**members)
    assert refused.value.problems == (problem,)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(ValidationError) as refused:
        Policy(min_recent=-1, max_messages=-1, marker="")
    assert [problem.path for problem in refused.value.problems] == ["$.max_messages", "$.min_recent", "$.marker"]


@pytest.mark.parametrize("member", ["max_tokens", "model_limit", "max_history_tokens"])
@pytest.mark.parametrize("is_exact", [True, False])
def test_the_largest_budget_that_may_be_is_one(member: str, is_exact: bool) -> None:
    policy = Policy(**{member: MOST_TOKENS, "min_recent": MOST_TOKENS})  # type: ignore[arg-type] # by name
    manifest = build_window(rows(4), policy, Quarters(is_exact=is_exact)).manifest
    assert (manifest.dropped, manifest.percent_used) == (0, 0.0)
    least = replace(policy, **{member: -MOST_TOKENS})  # type: ignore[arg-type] # by name
    with pytest.raises(BudgetTooSmall):
        build_window(rows(4), least, Quarters(is_exact=is_exact))


@pytest.mark.parametrize("tokens", [0, -5])
def test_a_budget_of_nothing_is_for_the_window_to_refuse(tokens: int) -> None:
    assert Policy(max_tokens=tokens, model_limit=tokens, max_history_tokens=tokens).max_tokens == tokens
