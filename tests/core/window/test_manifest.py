"""The manifest tells what became of every turn."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agent.core.window import manifest as module
from agent.core.window.manifest import DROPPED, KEPT
from agent.core.window.policy import STRATEGIES, Policy
from agent.core.window.window import Window, build_window
from tests.core.window.turns import Quarters, assistant, erased, numbered, said, user, with_tools

COUNT = Quarters()


def cut(tokens: int = 600, strategy: str = "truncate") -> Window:
    messages = with_tools(12, 100)
    messages[5] = erased(messages[5])
    return build_window(messages, Policy(strategy, max_tokens=tokens, min_recent=4), COUNT)


def test_it_names_every_turn_with_a_reason_that_is_known() -> None:
    manifest = cut().manifest
    assert [choice.seq for choice in manifest.choices] == list(range(1, 50))
    assert {choice.reason for choice in manifest.choices if choice.kept} == {
        "system", "newest_user", "first", "recent", "strategy"
    }  # fmt: skip
    assert {choice.reason for choice in manifest.choices if not choice.kept} == {"budget", "erased"}
    assert all(f"- ``{reason}``: " in (module.__doc__ or "") for reason in (*KEPT, *DROPPED))
    assert all(choice.reason in (KEPT if choice.kept else DROPPED) for choice in manifest.choices)


def test_its_tokens_add_up_by_turn_and_by_role() -> None:
    manifest = cut().manifest
    kept = sum(choice.tokens for choice in manifest.choices if choice.kept)
    assert kept + manifest.by_role["marker"] + COUNT.overhead == manifest.tokens
    assert sum(manifest.by_role.values()) + COUNT.overhead == manifest.tokens
    assert sum(choice.tokens for choice in manifest.choices) + COUNT.overhead == manifest.total_tokens
    assert manifest.percent_used == round(manifest.tokens / 6, 1)


def test_its_document_is_json_and_says_all_of_it() -> None:
    manifest = cut().manifest
    document = json.loads(json.dumps(manifest.document()))
    assert document["kept"] + document["dropped"] == 49 == len(document["choices"])
    assert document["choices"][0] == {
        "turn_id": manifest.choices[0].turn_id, "seq": 1, "role": "system", "tokens": 14, "score": None,
        "kept": True, "reason": "system", "cut": 0,
    }  # fmt: skip
    assert document["warnings"] == ["usage_above_80_percent", "usage_above_90_percent"]
    assert (document["counter"], document["budget"], document["strategy"]) == ("quarters", 600, "truncate")


def test_scores_are_told_where_a_strategy_has_some() -> None:
    assert {choice.score for choice in cut().manifest.choices} == {None}
    scores = [choice.score for choice in cut(strategy="importance").manifest.choices]
    assert scores[5] is None
    assert all(score is not None and 0 <= score <= 1 for score in [*scores[:5], *scores[6:]])


def test_the_hash_is_that_of_the_window_and_the_policy() -> None:
    assert cut().manifest.hash == cut().manifest.hash
    assert len({cut(tokens).manifest.hash for tokens in (400, 500, 600, 601)}) == 4
    texts = [numbered(user(40), ("user", text)) for text in ("one", "two")]
    assert len({build_window(each, Policy(), COUNT).manifest.hash for each in texts}) == 2


def test_a_lone_surrogate_is_no_reason_to_fail() -> None:
    odd = build_window([said(1, "user", "\ud83d" * 400)], Policy(max_tokens=50, query="\ud83d"), COUNT)
    assert len(odd.manifest.hash) == 64
    assert odd.manifest.choices[0].cut > 0


def test_what_no_strategy_could_have_kept_is_too_large() -> None:
    messages = numbered(user(40), assistant(40), user(4000), assistant(40), user(400), assistant(40), user(40))
    policy = Policy("importance", max_tokens=120, min_recent=1)
    manifest = build_window(
        messages, policy, COUNT, scorer=lambda turns, pairs: [turn.seq / 10 for turn in turns]
    ).manifest
    reasons = {choice.seq: choice.reason for choice in manifest.choices if not choice.kept}
    left = 120 - 3 - 14
    assert reasons == {3: "too_large", 4: "too_large", 5: "too_large", 6: "too_large"}
    assert COUNT(messages[4]) + COUNT(messages[5]) > left
    roomy = build_window(messages, replace(policy, max_tokens=170), COUNT, scorer=lambda turns, pairs: [0.5] * 7)
    assert [choice.reason for choice in roomy.manifest.choices] == [
        "budget", "budget", "too_large", "too_large", "strategy", "strategy", "newest_user"
    ]  # fmt: skip


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_cap_of_messages_is_a_reason_and_a_warning_only_where_it_dropped_something(strategy: str) -> None:
    messages = numbered(*[user(40), assistant(40)] * 20)
    capped = build_window(messages, Policy(strategy, max_messages=12), COUNT, ranker=lambda turns, query: [0.0] * 40)
    assert capped.manifest.warnings == ("max_messages",)
    assert {choice.reason for choice in capped.manifest.choices if not choice.kept} == {"max_messages"}
    by_tokens = Policy(strategy, max_history_tokens=200, max_messages=39)
    cut = build_window(messages, by_tokens, COUNT, ranker=lambda turns, query: [0.0] * 40)
    assert "max_messages" not in cut.manifest.warnings
    assert {choice.reason for choice in cut.manifest.choices if not choice.kept} <= {"budget", "too_large"}
    whole = build_window(messages, Policy(strategy, max_messages=40), COUNT)
    assert (whole.manifest.dropped, whole.manifest.warnings) == (0, ())


def test_warnings_are_named_by_the_thresholds() -> None:
    messages = numbered(user(400), user(400))
    policy = Policy(max_tokens=245)
    assert build_window(messages, policy, COUNT).manifest.warnings == ("usage_above_80_percent",)
    assert build_window(messages, replace(policy, max_tokens=1000), COUNT).manifest.warnings == ()
    narrow = replace(policy, max_tokens=400, thresholds=policy.thresholds._replace(high=0.5, target=0.4))
    assert build_window(messages, narrow, COUNT).manifest.warnings == ("usage_above_50_percent",)
