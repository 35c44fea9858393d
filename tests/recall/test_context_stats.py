"""How full a window is: figures that add up, and one line for people."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agent.recall.context import ContextRequest, ContextSettings, WindowStats, window_stats
from agent.recall.view import View
from tests.core.session_turns import ONE, TWO
from tests.recall.seen_sessions import Characters, Sessions, said, sessions

# As the captures' clock has it: what is captured here was captured now.
NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@pytest.fixture
def made() -> Iterator[Sessions]:
    with sessions() as opened:
        yield opened


def stats(
    made: Sessions,
    *,
    view: View | None = None,
    now: datetime = NOW,
    settings: ContextSettings | None = None,
    **asked: Any,
) -> WindowStats:
    return window_stats(
        made.see(view or View()), ContextRequest(**asked), settings or ContextSettings(), made.windows, now=now
    )


def pruned_at(made: Sessions) -> datetime:
    last_prune = stats(made).last_prune
    assert last_prune is not None
    return datetime.fromisoformat(last_prune)


def keep_last(number: int, count: int) -> dict[str, Any]:
    return said(number, "", "system", metadata={"memory": {"state_only": True, "keep_last": count}})


def test_the_one_line_says_how_much_is_there_what_was_pruned_when_and_how_old_the_oldest_is(made: Sessions) -> None:
    # At 08:01 and each minute after that: the eleventh is of 10:30.
    made.capture(*[{**said(number), "timestamp": stamp(139 + number)} for number in range(1, 46)])
    made.capture(keep_last(46, 35))
    at = pruned_at(made)
    found = stats(made, now=at + timedelta(minutes=15, seconds=40))
    head = "35 messages in context, 10 pruned 15 min ago, oldest from 10:30"
    assert found.line == (head if at.date() == NOW.date() else f"{head} on 2026-03-02")
    assert (found.total_messages, found.in_context, found.pruned, found.last_pruned) == (35, 35, 10, 10)
    assert found.oldest_in_memory == "2026-03-02T10:30:00Z"


def stamp(minutes: int) -> str:
    return (datetime(2026, 3, 2, 8, 0, tzinfo=UTC) + timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=1), "1 h ago"),
        (timedelta(hours=47), "47 h ago"),
        (timedelta(days=2), "2 days ago"),
    ],
)
def test_how_long_ago_it_was_pruned_is_said_in_the_unit_that_people_use(
    made: Sessions, passed: timedelta, words: str
) -> None:
    made.capture(*[said(number) for number in range(1, 6)], keep_last(6, 2))
    assert f"3 pruned {words}" in stats(made, now=pruned_at(made) + passed).line


def test_what_there_is_nothing_of_is_not_said(made: Sessions) -> None:
    made.capture(said(1))
    assert stats(made).line == "1 message in context, oldest from 08:01"
    assert stats(made, now=NOW + timedelta(days=3)).line.endswith("oldest from 08:01 on 2026-03-02")
    assert (stats(made).pruned, stats(made).last_prune) == (0, None)


def test_what_the_window_leaves_out_is_not_pruned_and_said_apart(made: Sessions) -> None:
    made.capture(*[said(number) for number in range(1, 61)])
    found = stats(made, max_tokens=None)
    assert (found.total_messages, found.in_context, found.pruned) == (60, 50, 0)
    assert found.line == "50 messages in context, 10 left out, oldest from 08:01"


def test_the_sum_over_the_roles_with_the_overhead_is_the_total(made: Sessions) -> None:
    made.count = Characters(around=4, overhead=3)
    made.capture(said(1, "s" * 40, "system"), *[said(number, "x" * number) for number in range(3, 40)])
    for asked in ({}, {"max_tokens": 200}, {"model": "limit-500"}):
        found = stats(made, **asked)
        assert found.total_tokens == sum(found.tokens_by_role.values()) + found.overhead
        assert found.context_tokens <= found.limit or not asked
    assert found.tokens_by_role["system"] == 44


def test_the_limit_is_that_of_the_budget_else_of_the_model(made: Sessions) -> None:
    made.capture(said(1, "x" * 600))
    figures = [stats(made, **asked) for asked in ({}, {"max_tokens": 1200}, {"model": "limit-1000"})]
    assert [found.limit for found in figures] == [6000, 1200, 1000]
    assert [found.percent_used for found in figures] == [10.0, 50.0, 60.0]
    assert stats(made, settings=ContextSettings(max_context_tokens=1000)).limit == 1000


def test_where_no_window_fits_the_figures_say_so_and_what_is_needed(made: Sessions) -> None:
    made.capture(said(1, "s" * 1464, "system"), said(3))
    found = stats(made, max_tokens=500)
    assert (found.in_context, found.left_out, found.context_tokens, found.total_messages) == (0, 2, 0, 2)
    assert (found.limit, found.needed, found.percent_used) == (500, 1469, 293.8)
    assert found.line == "no window fits 500 tokens: 1 469 are needed"
    assert stats(made, max_tokens=1469).needed is None
    assert stats(made, max_tokens=0).percent_used > 100


def test_a_model_that_nobody_knows_and_a_budget_that_it_does_not_take_are_warned_of(made: Sessions) -> None:
    made.capture(said(1))
    assert stats(made, model="new").warnings == stats(made, model="new", max_tokens=100).warnings == ("unknown_model",)
    assert stats(made, model="new", max_tokens=1).warnings == ("unknown_model",)
    assert stats(made, model="limit-100", max_tokens=101).warnings == ("over_model_limit",)
    assert stats(made, model="limit-100", max_tokens=100).warnings == ()


def test_the_conversation_that_the_figures_are_of_is_named(made: Sessions) -> None:
    made.capture(said(1), said(2))
    assert stats(made).conversation_id == ONE
    made.capture(said(4), conversation=TWO)
    assert (stats(made).conversation_id, stats(made, scope="session").conversation_id) == (TWO, None)
    assert stats(made, view=View(conversation_id=ONE)).conversation_id == ONE
    assert stats(made, view=View(leaf=said(1)["turn_id"])).conversation_id is None
    for found in (stats(made), stats(made, scope="session", max_tokens=12)):
        assert found.in_context + found.left_out == found.total_messages


def test_the_figures_are_of_the_newest_conversation_or_of_all_as_one(made: Sessions) -> None:
    made.capture(said(1), said(2), keep_last(3, 1))
    made.capture(said(4), conversation=TWO)
    assert (stats(made).total_messages, stats(made).pruned) == (1, 0)
    every = stats(made, scope="session")
    assert (every.total_messages, every.pruned) == (2, 1)


def test_no_time_is_made_up_where_a_turn_has_none(made: Sessions) -> None:
    made.capture(said(1), said(2))
    made.memory.client.erasure.turn(said(1)["turn_id"])
    found = stats(made)
    assert (found.in_context, found.oldest_in_memory) == (1, "2026-03-02T08:02:00Z")


def test_an_empty_view_has_figures_of_nothing(made: Sessions) -> None:
    made.capture(said(1))
    found = stats(made, view=View(at_seq=0))
    assert (found.total_messages, found.in_context, found.total_tokens, found.oldest_in_memory) == (0, 0, 0, None)
    assert found.line == "0 messages in context"
