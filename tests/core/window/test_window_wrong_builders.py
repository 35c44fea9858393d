"""The laws of windows find the builders out that are wrong, and have nothing against ours on the same conversations."""

from __future__ import annotations

import pytest

from agent.core.window.policy import Policy
from agent.core.window.window import build_window
from tests.core.window.laws import broken_laws
from tests.core.window.turns import Quarters, with_tools
from tests.core.window.wrong_builders import (
    WRONG,
    Pick,
    last_message_only,
    system_and_newest,
    without_tools,
    wrongly_built,
)

COUNT = Quarters()
HISTORY = with_tools(8, 120)
BUDGETS = range(150, 900, 25)


def found(pick: Pick, tokens: int) -> set[str]:
    """The names of the laws that ``pick`` breaks."""
    policy = Policy("rolling_window", max_tokens=tokens, min_recent=2)
    laws = broken_laws(HISTORY, None, policy, COUNT, wrongly_built(pick, HISTORY, policy, COUNT))
    return {law.split(":")[0] for law in laws}


@pytest.mark.parametrize("pick", WRONG)
def test_a_wrong_builder_is_found_out(pick: Pick) -> None:
    assert any(found(pick, tokens) for tokens in BUDGETS)


@pytest.mark.parametrize("pick", [last_message_only, without_tools])
def test_the_two_that_are_always_valid_in_form_are_found_out_for_every_budget(pick: Pick) -> None:
    assert all(found(pick, tokens) for tokens in BUDGETS)


def test_what_is_wrong_is_named() -> None:
    assert "system turns" in found(last_message_only, 400)
    assert "newest user" in found(last_message_only, 400)
    assert "valid" in set().union(*(found(system_and_newest, tokens) for tokens in BUDGETS))


@pytest.mark.parametrize("tokens", BUDGETS)
def test_ours_breaks_none(tokens: int) -> None:
    policy = Policy("rolling_window", max_tokens=tokens, min_recent=2)
    assert broken_laws(HISTORY, None, policy, COUNT, build_window(HISTORY, policy, COUNT)) == []
