"""Windows that the field got wrong: cases H25 to H28, and the order of what wins, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.turn import SessionTurn
from agent.core.window.marker import is_marker, missing_at
from agent.core.window.policy import STRATEGIES, Policy
from agent.core.window.prepared import Scorer
from agent.core.window.window import Window, build_window
from agent.errors import BudgetTooSmall
from tests.core.call_turns import invocation
from tests.core.window.laws import broken_laws
from tests.core.window.turns import (
    Failing,
    Quarters,
    assistant,
    erased,
    natively,
    numbered,
    rows,
    system,
    tool,
    user,
    with_tools,
)

COUNT = Quarters(overhead=0)


def alike(messages: Sequence[SessionTurn], pairs: object) -> list[float]:
    return [0.5] * len(messages)


def window(messages: Sequence[SessionTurn], policy: Policy, scorer: Scorer = alike) -> Window:
    found = build_window(messages, policy, COUNT, scorer=scorer, ranker=lambda given, query: [0.0] * len(given))
    assert broken_laws(messages, None, policy, COUNT, found, is_maximal=policy.strategy != "relevant") == []
    return found


def shown(found: Window) -> list[int | str]:
    """The numbers of the turns, and the text of markers."""
    return [str(turn.content) if is_marker(turn) else turn.seq for turn in found.messages]


def reasons(found: Window) -> dict[int, str]:
    return {choice.seq: choice.reason for choice in found.manifest.choices}


def test_h25_a_result_is_there_only_with_its_call() -> None:
    history = numbered(system(40), user(200), assistant(200, "x"), tool(800, "x"), assistant(80), user(40))
    whole = sum(map(COUNT, history))
    parted = sum(COUNT(turn) for turn in history if turn.seq in {1, 4, 5, 6})
    for strategy in STRATEGIES:
        for tokens in range(parted, whole):
            found = window(history, Policy(strategy, max_tokens=tokens, min_recent=3))
            numbers = shown(found)
            assert (3 in numbers) == (4 in numbers)
            assert {1, 5, 6} <= set(numbers)
        found = window(history, Policy("rolling_window", max_tokens=parted, min_recent=2))
        assert shown(found) == [1, "... [3 messages removed] ...", 5, 6]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_h26_the_system_prompt_and_the_newest_turns_stay(strategy: str) -> None:
    history = numbered(system(400), *[user(400), assistant(400)] * 60)
    found = window(history, Policy(strategy, max_tokens=2000))
    numbers = [each for each in shown(found) if isinstance(each, int)]
    missing = [missing_at(turn) or 0 for turn in found.messages]
    assert found.messages[0] == history[0]
    assert numbers[-10:] == list(range(112, 122))
    assert len(numbers) + sum(missing) == 121
    assert found.manifest.tokens <= 2000
    if strategy == "rolling_window":
        assert numbers[1:] == list(range(numbers[1], 122))
        assert found.manifest.markers == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_h27_a_newest_message_over_the_budget_is_cut_and_says_how_much(strategy: str) -> None:
    history = numbered(system(40), user(50_000))
    found = window(history, Policy(strategy, max_tokens=1000))
    cut = found.messages[-1].content
    assert cut is not None
    assert found.messages[0] == history[0]
    removed = found.manifest.choices[-1].cut
    assert f"... [{removed} characters removed] ..." in cut
    assert 990 < found.manifest.tokens <= 1000
    assert found.messages[-1].fields["content"] == cut


def test_h27_a_system_turn_that_does_not_fit_is_the_typed_error() -> None:
    history = numbered(system(8000), user(20))
    with pytest.raises(BudgetTooSmall) as refused:
        window(history, Policy(max_tokens=1000))
    assert refused.value.needed == COUNT(history[0]) + COUNT(history[1])
    assert shown(window(history, Policy(max_tokens=refused.value.needed))) == [1, 2]


def test_h28_calls_are_counted() -> None:
    named = {"tool_name": "t" * 30}
    histories = [
        numbered(user(40), ("assistant", "", *[invocation(f"c{n}", **named) for n in range(calls)]))
        for calls in (0, 1, 8)
    ]
    found = [window(history, Policy(max_tokens=1000)).manifest for history in histories]
    assert 0 < found[0].tokens < found[1].tokens < found[2].tokens
    for each in found:
        assert each.tokens == sum(choice.tokens for choice in each.choices) == each.total_tokens


def test_parallel_calls_that_reuse_an_id_stay_with_all_their_results() -> None:
    calls = natively(["a", "b"], "call_0")
    again = natively(["c"], "call_0")
    history = numbered(
        user(), assistant(40, *calls), tool(40, calls[0]), tool(40, calls[1]), user(), assistant(40, *again),
        tool(40, again[0]), assistant(), user(),
    )  # fmt: skip
    for tokens in range(30, 140):
        numbers = set(shown(window(history, Policy("rolling_window", max_tokens=tokens, min_recent=6))))
        assert {2, 3, 4} <= numbers or not {2, 3, 4} & numbers
        assert {6, 7} <= numbers or not {6, 7} & numbers


def test_a_gap_that_only_system_turns_interrupt_has_one_marker_at_its_last_place() -> None:
    history = numbered(user(400), system(20), user(400), assistant(400), user(40), assistant(40))
    found = window(history, Policy("rolling_window", max_tokens=60, min_recent=2))
    assert shown(found) == [2, "... [3 messages removed] ...", 5, 6]


def test_erased_turns_and_half_exchanges_count_in_markers_and_never_stand_between_a_call_and_its_result() -> None:
    history = numbered(user(), assistant(40, "a"), assistant(), tool(40, "a"), tool(40, "none"), user())
    history[2] = erased(history[2])
    found = window(history, Policy(max_tokens=500))
    assert shown(found) == [1, "... [1 messages removed] ...", 2, 4, "... [1 messages removed] ...", 6]
    assert reasons(found)[3] == "erased"
    assert reasons(found)[5] == "half_exchange"


def test_a_turn_that_lost_its_results_is_kept_without_its_calls() -> None:
    history = numbered(user(), assistant(40, "a"), user())
    found = window(history, Policy(max_tokens=500))
    assert shown(found) == [1, 2, 3]
    assert found.messages[1].invocations == ()


def test_calls_of_a_system_turn_are_no_reason_to_keep_their_results() -> None:
    history = numbered(user(), ("system", "be kind", "a"), tool(40, "a"), user())
    found = window(history, Policy(max_tokens=500))
    assert shown(found) == [1, 2, "... [1 messages removed] ...", 4]
    assert found.messages[1].invocations == ()


def test_a_gap_that_costs_no_more_than_its_marker_is_no_gap() -> None:
    history = numbered(user(1), assistant(1), user(400))
    needed = sum(map(COUNT, history))
    assert shown(window(history, Policy("truncate", max_tokens=needed - 1)))[-1] == 3
    with_marker = Policy(max_tokens=needed, min_recent=0)
    assert shown(window(history, with_marker)) == [1, 2, 3]


def test_the_newest_users_message_goes_before_newer_results() -> None:
    steps = [step for n in range(9) for step in (assistant(20, f"c{n}"), tool(400, f"c{n}"))]
    history = numbered(user(40), assistant(400), user(40), *steps)
    found = window(history, Policy("rolling_window", max_tokens=300))
    assert shown(found) == [
        "... [2 messages removed] ...", 3, "... [14 messages removed] ...", 18, 19, 20, 21
    ]  # fmt: skip
    assert reasons(found)[3] == "newest_user"


def test_calls_that_are_open_go_before_newer_messages() -> None:
    calls = ["a", "b"]
    history = numbered(user(40), assistant(40, *calls), tool(400, "a"))
    found = window(history, Policy("rolling_window", max_tokens=140, min_recent=0))
    assert shown(found) == [1, 2, 3]
    assert reasons(numbered_window(history))[2] == "open_call"


def numbered_window(history: Sequence[SessionTurn]) -> Window:
    return window(history, Policy("rolling_window", max_tokens=10_000, min_recent=0))


def test_a_newest_message_with_signed_blocks_is_dropped_whole_and_never_cut() -> None:
    signed = {"blocks": [{"type": "thinking", "thinking": "naïve → check\n", "signature": "EqQB+/a=="}]}
    history = numbered(user(40), assistant(40), user(4000))
    history[2] = replace(history[2], fields={**history[2].fields, "metadata": signed})
    found = window(history, Policy(max_tokens=100))
    assert shown(found) == [1, 2, "... [1 messages removed] ..."]
    whole = window(history, Policy(max_tokens=2000))
    assert whole.messages[-1] == history[2]


def test_where_nothing_is_whole_the_newest_plain_message_is_cut() -> None:
    history = numbered(user(4000), assistant(4000), ("user", "some words" * 400, "call"))
    found = window(history, Policy(max_tokens=100))
    assert shown(found) == ["... [1 messages removed] ...", 2, "... [1 messages removed] ..."]
    assert found.manifest.choices[1].cut > 3000


def test_truncate_keeps_the_first_message() -> None:
    found = window(rows(20), Policy("truncate", max_tokens=1000, min_recent=2))
    assert shown(found)[:2] == [1, "... [31 messages removed] ..."]
    assert reasons(found)[1] == "first"


def test_importance_keeps_what_scores_highest_and_hybrid_the_newest_beside_it() -> None:
    history = rows(30)

    def old(messages: Sequence[SessionTurn], pairs: object) -> list[float]:
        return [1.0 if turn.seq < 9 else 0.1 for turn in messages]

    by_score = window(history, Policy("importance", max_tokens=1300, min_recent=2), old)
    assert {1, 2, 3, 4, 5, 6, 7, 8} <= set(shown(by_score))
    mixed = set(shown(window(history, Policy("hybrid", max_tokens=1300, min_recent=2), old)))
    assert {7, 8, 56, 57, 58} <= mixed
    assert {choice.score for choice in by_score.manifest.choices} == {1.0, 0.1}


@pytest.mark.parametrize("answer", [[0.5], [float("nan")] * 40, ["high"] * 40, None])
def test_where_a_scorer_fails_truncate_takes_over_and_the_manifest_says_so(answer: list[float] | None) -> None:
    def failing(messages: Sequence[SessionTurn], pairs: object) -> list[float]:
        if answer is None:
            raise RuntimeError("said in confidence")
        return answer

    found = window(rows(20), Policy("importance", max_tokens=1000), failing).manifest
    assert (found.strategy, found.requested, found.fallback) == ("truncate", "importance", "scorer_failed")
    assert window(rows(20), Policy("rolling_window", max_tokens=1000), failing).manifest.fallback is None


def test_where_a_ranker_is_missing_or_fails_truncate_takes_over() -> None:
    policy = Policy("relevant", max_tokens=1000)
    alone = build_window(rows(20), policy, COUNT, scorer=alike).manifest
    assert (alone.strategy, alone.fallback) == ("truncate", "no_ranker")
    failed = build_window(rows(20), policy, COUNT, scorer=alike, ranker=lambda messages, query: [1.0]).manifest
    assert (failed.strategy, failed.fallback) == ("truncate", "ranker_failed")


def test_a_counter_that_fails_leaves_the_message_to_the_estimator_and_5_percent_free() -> None:
    history = numbered(("user", "some poison"), *[assistant(100), user(100)] * 20)
    for answer in (None, 0, -3, 1.5, "7", True):
        count = Failing(answer=answer)
        found = build_window(history, Policy(max_tokens=400), count, scorer=alike)
        assert (found.manifest.estimated, found.manifest.is_exact) == (1, False)
        assert found.manifest.tokens <= 380
        assert broken_laws(history, None, Policy(max_tokens=400), count, found) == []


def test_a_first_message_that_is_no_users_gets_a_marker_before_it() -> None:
    history = numbered(system(), assistant(40), user(40))
    found = window(history, Policy(max_tokens=500, user_first=True))
    assert shown(found) == [1, "[Conversation begins]", 2, 3]
    assert missing_at(found.messages[1]) == 0
    assert found.manifest.by_role["marker"] == COUNT(found.messages[1])


def test_a_window_of_a_model_that_is_not_full_drops_nothing_but_what_is_over_max_messages() -> None:
    history = rows(30)
    whole = sum(map(COUNT, history))
    roomy = Policy(model_limit=int(whole / 0.8) + 1, max_messages=None)
    assert window(history, roomy).manifest.dropped == 0
    few = window(history, replace(roomy, max_messages=12)).manifest
    assert (few.kept, few.budget) == (12, None)
    assert {choice.reason for choice in few.choices if not choice.kept} == {"max_messages"}


@pytest.mark.parametrize(("used", "share"), [(0.85, 0.8), (0.95, 0.6), (3.0, 0.6)])
def test_a_window_of_a_model_is_cut_to_80_percent_and_above_90_percent_to_60(used: float, share: float) -> None:
    history = rows(60)
    limit = int(sum(map(COUNT, history)) / used)
    found = window(history, Policy("rolling_window", model_limit=limit, max_messages=None)).manifest
    assert share * limit - 220 < found.tokens <= share * limit
    assert "usage_above_80_percent" in found.warnings
    assert ("usage_above_90_percent" in found.warnings) == (used > 0.9)


def test_the_message_to_be_answered_takes_its_part_of_a_models_limit() -> None:
    history = rows(20)
    limit = int(sum(map(COUNT, history)) / 0.79)
    without = window(history, Policy("rolling_window", model_limit=limit)).manifest
    asked = window(history, Policy("rolling_window", model_limit=limit, query="x" * 400)).manifest
    assert (without.dropped, asked.dropped > 0) == (0, True)


def test_the_history_budget_leaves_system_turns_and_the_overhead_out() -> None:
    history = numbered(system(40_000), *[user(400), assistant(400)] * 60)
    found = window(history, Policy(max_history_tokens=1000, max_messages=None)).manifest
    assert found.tokens - 10_004 <= 1000 < found.tokens
    assert found.percent_used <= 100


@pytest.mark.parametrize("policy", [Policy(max_tokens=0), Policy(model_limit=-1), Policy(max_history_tokens=0)])
def test_a_budget_of_nothing_is_the_typed_error_even_for_an_empty_conversation(policy: Policy) -> None:
    for history in ([], rows(1)):
        with pytest.raises(BudgetTooSmall) as refused:
            window(history, policy)
        assert refused.value.needed > 0
    assert window([], Policy()).messages == ()


@given(st.integers(60, 400), st.sampled_from(STRATEGIES))
def test_an_exchange_goes_whole(tokens: int, strategy: str) -> None:
    numbers = shown(window(with_tools(6, 100), Policy(strategy, max_tokens=tokens, min_recent=2)))
    for first in (2, 6, 10, 14):
        exchange = {first, first + 1, first + 2, first + 3} & set(numbers)
        assert len(exchange) in {0, 4} or (strategy == "truncate" and first == 2 and exchange in ({2}, {2, 3, 4, 5}))


@pytest.mark.parametrize("strategy", ["rolling_window", "truncate"])
def test_behind_the_newest_users_message_too_more_is_kept_where_the_next_older_does_not_fit(strategy: str) -> None:
    steps = [assistant(40), assistant(40), assistant(4000), assistant(40)]
    history = numbered(user(40), assistant(40), user(40), *steps)
    found = window(history, Policy(strategy, max_tokens=130, min_recent=1))
    assert shown(found) == [1, 2, 3, 4, 5, "... [1 messages removed] ...", 7]
