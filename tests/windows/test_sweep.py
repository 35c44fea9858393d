"""What make test does of the sweep: every budget of the ten shortest conversations, twenty of each of the others."""

from __future__ import annotations

import pytest

from agent.recall.tokens import counter_for
from tests.windows.conversations import ours, with_tools
from tests.windows.sweep import STEPS, Account, budgets, swept

SHORTEST = 10
PARTS = 8


def _whole(found):
    return swept(found, counter_for("gpt-4o"))


def test_budgets_go_up_from_zero_beyond_the_whole():
    assert list(budgets(5)) == [0, 1, 2, 3, 4, 5, 6]
    assert budgets(10_000)[:3] == range(0, 1500, 500)
    assert budgets(10_000)[-1] > 10_000
    assert len(budgets(10_000, steps=20)) == 20
    assert budgets(10_000, steps=20)[-1] > 10_000


def test_every_window_of_the_ten_shortest_conversations_with_tools_is_valid():
    shortest = sorted(ours(), key=lambda found: len(found.session.shown))[:SHORTEST]
    account = Account()
    for found in shortest:
        account.add(_whole(found))
    assert account.conversations == SHORTEST
    assert account.windows > 1000
    assert account.faults == 0, account.examples


@pytest.fixture(scope="module")
def shared_conversations(shared):
    return sorted(with_tools(shared / "data"), key=lambda found: len(found.session.shown))


@pytest.mark.parametrize("part", range(PARTS))
def test_twenty_budgets_of_every_other_conversation_are_valid(shared_conversations, part):
    account = Account()
    for place, found in enumerate(shared_conversations):
        if place < SHORTEST:
            account.add(_whole(found) if place % PARTS == part else Account())
        elif place % PARTS == part:
            account.add(swept(found, counter_for("gpt-4o"), steps=STEPS, thorough=False))
    assert account.conversations >= 20
    assert account.faults == 0, account.examples
