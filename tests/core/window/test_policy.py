"""What a policy may say, and what is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.window.policy import STRATEGIES, Policy, Thresholds
from agent.errors import ValidationError


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


@pytest.mark.parametrize("tokens", [0, -5])
def test_a_budget_of_nothing_is_for_the_window_to_refuse(tokens: int) -> None:
    assert Policy(max_tokens=tokens, model_limit=tokens, max_history_tokens=tokens).max_tokens == tokens
