"""Windows of sessions and lists: each setting changes them, a request wins over it, and a conversation has its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agent.core.window.marker import is_marker
from agent.core.window.policy import STRATEGIES, Thresholds
from agent.errors import BudgetTooSmall, NotFound, ValidationError
from agent.formats import WRITES
from agent.recall.context import (
    MAX_MESSAGES_IGNORED,
    OVER_MODEL_LIMIT,
    UNKNOWN_MODEL,
    ContextRequest,
    ContextSettings,
    SessionWindows,
    list_window,
    written,
)
from agent.recall.view import View
from tests.core.session_turns import ONE, TWO, chain, turn, turn_id
from tests.recall.embedded import SESSION
from tests.recall.seen_sessions import Characters, Sessions, contents, limits, said, sessions

# Ten of 100 characters each, the last an assistant's.
TEN = [said(number, f"{number:03}{'x' * 97}") for number in range(1, 11)]


@pytest.fixture
def made() -> Iterator[Sessions]:
    with sessions() as opened:
        yield opened


@pytest.fixture
def ten(made: Sessions) -> Sessions:
    made.capture(*TEN)
    return made


def test_what_fits_is_there_as_it_was_captured(ten: Sessions) -> None:
    window = ten.window()
    assert contents(window.messages) == [each["content"] for each in TEN]
    assert (window.manifest.kept, window.manifest.dropped, window.manifest.total_tokens) == (10, 0, 1000)


def test_a_budget_of_the_request_holds_to_the_token(ten: Sessions) -> None:
    for budget in range(150, 1001, 25):
        manifest = ten.window(max_tokens=budget).manifest
        assert manifest.tokens <= budget == manifest.budget
        assert manifest.kept + manifest.dropped == 10


# Each setting changes the window, and a request wins over it.

CHANGED: list[tuple[str, Any, dict[str, Any]]] = [
    ("max_history_messages", 4, {}),
    ("max_context_tokens", 500, {}),
    ("strategy", "rolling_window", {"max_tokens": 700, "min_recent": 1}),
    ("min_recent", 6, {"max_tokens": 700, "strategy": "importance"}),
    ("marker", "[gone]", {"max_tokens": 400}),
    ("thresholds", Thresholds(0.3, 0.4, 0.2), {"model": "limit-2000"}),
]


@pytest.mark.parametrize(("name", "value", "asked"), CHANGED, ids=[name for name, _, _ in CHANGED])
def test_each_setting_changes_the_window(ten: Sessions, name: str, value: Any, asked: dict[str, Any]) -> None:
    ten.capture(said(11, "an error: it failed", metadata={"memory": {"importance": 1.0}}), said(12, "y" * 100))
    before = contents(ten.window(**asked).messages)
    after = contents(ten.window(settings=ContextSettings()._replace(**{name: value}), **asked).messages)
    assert before != after


def test_the_scope_changes_the_window(made: Sessions) -> None:
    made.capture(said(1, "first"))
    made.capture(said(2, "second"), conversation=TWO)
    assert contents(made.window().messages) == ["second"]
    assert contents(made.window(settings=ContextSettings(scope="session")).messages) == ["first", "second"]
    assert contents(made.window(scope="session").messages) == ["first", "second"]
    assert contents(made.window(settings=ContextSettings(scope="session"), scope="conversation").messages) == ["second"]


def test_reserved_tokens_change_the_window_of_a_list_and_of_nothing_else(ten: Sessions) -> None:
    turns = ten.window().messages
    listed = [
        list_window(turns, ContextRequest(max_tokens=1000), ContextSettings(reserved_tokens=reserved), ten.windows)
        for reserved in (0, 500)
    ]
    assert [window.manifest.budget for window in listed] == [1000, 500]
    assert len(listed[1].messages) < len(listed[0].messages)
    # Neither of a session's window, nor where no hard budget was asked for.
    assert ten.window(settings=ContextSettings(reserved_tokens=900), max_tokens=1000).manifest.dropped == 0
    assert (
        list_window(turns, ContextRequest(), ContextSettings(reserved_tokens=5900), ten.windows).manifest.dropped == 0
    )


def test_a_request_wins_over_the_settings(ten: Sessions) -> None:
    settings = ContextSettings(strategy="truncate", max_history_messages=3, min_recent=1, marker="[a]")
    assert ten.window(settings=settings, max_messages=8).manifest.kept == 8
    window = ten.window(settings=settings, max_tokens=420, strategy="rolling_window", marker="[b {count}]")
    assert window.manifest.strategy == "rolling_window"
    assert contents(window.messages)[0] == "[b 6]"


# Budgets.


def test_without_a_budget_and_a_model_the_setting_is_the_hard_budget_of_history_alone(made: Sessions) -> None:
    made.capture(said(1, "s" * 5000, "system"), *[{**each, "turn_id": turn_id(20 + n)} for n, each in enumerate(TEN)])
    window = made.window(settings=ContextSettings(max_context_tokens=500))
    assert window.manifest.kept < 11
    assert contents(window.messages)[0] == "s" * 5000
    assert made.window(settings=ContextSettings(max_context_tokens=1000)).manifest.dropped == 0


def test_a_model_holds_by_its_limit_and_an_unknown_one_is_warned_of(ten: Sessions) -> None:
    assert ten.window(model="limit-1250").manifest.dropped == 0
    assert ten.window(model="limit-1200").manifest.budget == 960
    assert ten.window(model="limit-1100").manifest.budget == 660
    unknown = ten.window(model="nobody-knows-it").manifest
    assert unknown.warnings == (UNKNOWN_MODEL,)
    assert unknown.choices[0].kept
    # It is whose tokens are counted too.
    assert ten.window(model="nobody-knows-it", max_tokens=2000).manifest.warnings == (UNKNOWN_MODEL,)


def test_a_budget_beyond_the_model_and_messages_that_do_not_count_are_warned_of(ten: Sessions) -> None:
    assert ten.window(model="limit-1250", max_tokens=1250).manifest.warnings == ()
    assert ten.window(model="limit-1250", max_tokens=1251).manifest.warnings == (OVER_MODEL_LIMIT,)
    assert ten.window(max_tokens=2000, max_messages=3).manifest.warnings == (MAX_MESSAGES_IGNORED,)
    # A setting is nobody's word for this window.
    assert ten.window(settings=ContextSettings(max_history_messages=3), max_tokens=2000).manifest.warnings == ()
    assert MAX_MESSAGES_IGNORED not in ten.window(max_messages=3).manifest.warnings


def test_a_budget_that_is_too_small_is_named_by_where_it_is_from(made: Sessions) -> None:
    made.capture(said(1, "s" * 600, "system"), said(3, "hello"))
    for asked, path in (
        ({"max_tokens": 200}, "$.max_tokens"),
        ({"model": "limit-500"}, "$.model"),
    ):
        with pytest.raises(BudgetTooSmall) as refused:
            made.window(**asked)
        assert [problem.path for problem in refused.value.problems] == [path]
        assert refused.value.details.keys() == {"errors", "needed", "budget"}
    with pytest.raises(BudgetTooSmall) as refused:
        made.window(settings=ContextSettings(max_context_tokens=1, marker="x" * 400))
    assert [problem.path for problem in refused.value.problems] == ["$.max_context_tokens"]


def test_a_list_that_what_is_reserved_leaves_too_little_for_is_told_which_max_tokens_would_do(ten: Sessions) -> None:
    turns = chain(turn(1, content="s" * 800, role="system"), turn(2))
    asked = ContextRequest(max_tokens=5000)
    with pytest.raises(BudgetTooSmall) as refused:
        list_window(turns, asked, ContextSettings(), ten.windows)
    needed = refused.value.needed
    assert refused.value.message == (
        f"max_tokens less reserved_tokens leaves 500; a window needs {needed}: max_tokens of at least {needed + 4500}"
    )
    told = {name: value for name, value in refused.value.details.items() if name != "errors"}
    assert told == {"needed": needed, "budget": 500, "reserved_tokens": 4500, "max_tokens": 5000}
    enough = ContextRequest(max_tokens=needed + 4500)
    assert list_window(turns, enough, ContextSettings(), ten.windows).manifest.tokens <= needed


def test_what_system_turns_do_not_fit_is_the_one_error_and_says_what_is_needed(made: Sessions) -> None:
    made.capture(said(1, "s" * 300, "system"), said(3, "hello"))
    with pytest.raises(BudgetTooSmall) as refused:
        made.window(max_tokens=200)
    assert (refused.value.budget, refused.value.details["budget"]) == (200, 200)
    assert made.window(max_tokens=refused.value.needed).manifest.tokens <= refused.value.needed
    with pytest.raises(BudgetTooSmall):
        made.window(max_tokens=refused.value.needed - 1)


@pytest.mark.parametrize("budget", [0, 4500, 4499])
def test_a_list_that_nothing_is_left_for_is_the_same_error(budget: int) -> None:
    turns = chain(turn(1), turn(2, role="assistant"))
    with pytest.raises(BudgetTooSmall):
        list_window(turns, ContextRequest(max_tokens=budget), ContextSettings(), SessionWindows())


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ({"strategy": "summarize"}, "$.strategy"),
        ({"strategy": "best"}, "$.strategy"),
        ({"scope": "all"}, "$.scope"),
        ({"format": "yaml"}, "$.format"),
        ({"min_recent": -1}, "$.min_recent"),
        ({"max_messages": 0}, "$.max_messages"),
        ({"marker": " "}, "$.marker"),
    ],
)
def test_what_no_window_can_be_cut_by_is_refused_by_its_name(ten: Sessions, asked: dict[str, Any], path: str) -> None:
    with pytest.raises(ValidationError) as refused:
        ten.window(**asked)
    assert [problem.path for problem in refused.value.problems] == [path]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_is_there_and_relevant_without_a_ranker_says_who_took_over(ten: Sessions, strategy: str) -> None:
    manifest = ten.window(max_tokens=500, strategy=strategy, query="007").manifest
    took_over = "truncate" if strategy == "relevant" else strategy
    assert (manifest.requested, manifest.strategy) == (strategy, took_over)


def test_a_ranker_is_asked_for_what_the_query_has_to_do_with(ten: Sessions) -> None:
    asked: list[tuple[str | None, str]] = []

    def rankers(session_id: str | None) -> Any:
        def rank(turns: Any, query: str) -> list[float]:
            asked.append((session_id, query))
            return [float(query in (each.content or "")) for each in turns]

        return rank

    ten.windows = SessionWindows(counters=lambda _: Characters(), limits=limits, rankers=rankers)
    window = ten.window(max_tokens=450, strategy="relevant", query="003", min_recent=0)
    assert any((each.content or "").startswith("003") for each in window.messages)
    assert [query for _, query in asked] == ["003"]


# Which conversation.


def test_the_window_is_of_the_conversation_that_is_asked_for_else_of_the_newest(made: Sessions) -> None:
    made.capture(said(1, "prompt of one", "system"), said(3, "one"))
    made.capture(said(5, "prompt of two", "system"), said(7, "two"), conversation=TWO)
    assert contents(made.window().messages) == ["prompt of two", "two"]
    assert contents(made.window(View(conversation_id=ONE)).messages) == ["prompt of one", "one"]
    made.capture(said(8, "one again"))
    assert contents(made.window().messages) == ["prompt of one", "one", "one again"]


def test_one_that_is_named_is_the_window_of_whatever_the_scope_says(made: Sessions) -> None:
    made.capture(said(1, "one"))
    made.capture(said(3, "two"), conversation=TWO)
    assert contents(made.window(View(conversation_id=ONE), scope="session").messages) == ["one"]
    with pytest.raises(NotFound):
        made.window(View(conversation_id=turn_id(99)))


def test_a_branch_and_an_instant_have_their_own_windows(made: Sessions) -> None:
    made.capture(said(1, "q"), said(2, "old"))
    made.capture({**said(4, "new"), "parent_turn_id": turn_id(1)})
    assert contents(made.window().messages) == ["q", "new"]
    assert contents(made.window(View(leaf=turn_id(2))).messages) == ["q", "old"]
    assert contents(made.window(View(at_seq=2)).messages) == ["q", "old"]
    assert made.window(View(at_seq=0)).messages == ()


def test_a_conversation_that_was_cleared_or_cut_is_windowed_as_its_history_shows_it(ten: Sessions) -> None:
    ten.capture(said(12, "", "system", metadata={"memory": {"state_only": True, "keep_last": 3}}))
    assert len(ten.window().messages) == 3


# As a provider takes it.


@pytest.mark.parametrize("form", WRITES)
def test_a_window_is_written_in_every_format_with_its_marker(ten: Sessions, form: str) -> None:
    window = ten.window(max_tokens=450, format=form)
    assert sum(map(is_marker, window.messages)) >= 1
    found = written(window, form, seen=ten.see(), source=ten.source)
    text = str(found.document)
    assert "messages removed" in text
    assert "010xxx" in text
    assert set(found.left_out) <= {"contexts", "times", "metadata", "other_fields", "roles"}


def test_a_format_that_wants_a_user_first_has_one(ten: Sessions) -> None:
    document = written(
        ten.window(max_tokens=450, format="anthropic", strategy="rolling_window"), "anthropic", seen=ten.see()
    ).document
    assert document["messages"][0]["role"] == "user"


def test_what_came_in_a_format_is_given_back_in_it_as_it_came(made: Sessions) -> None:
    calls = [{"id": "call_1", "type": "function", "function": {"name": "track", "arguments": '{"n":  4471}'}}]
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Where is it?"}]},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_1", "content": "Bern"},
    ]
    made.capture_body({"session_id": SESSION, "messages": messages}, "openai-chat")
    found = written(made.window(format="openai-chat"), "openai-chat", seen=made.see(), source=made.source)
    assert found.document["messages"] == messages
