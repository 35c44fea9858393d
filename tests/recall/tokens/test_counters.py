"""Which counter a model's messages are counted by."""

from __future__ import annotations

from agent.recall.tokens import Counters, counter_for
from agent.recall.tokens.exact import Exact
from tests.recall.tokens.conversations import turn


def test_a_known_model_is_counted_exactly_and_any_other_about() -> None:
    counters = Counters()
    told = [counters.for_model(name) for name in ("gpt-4o", "gpt-4", "claude-opus-4-6", "my-own-model", None)]
    assert [count.name for count in told] == ["o200k_base", "cl100k_base", "estimate", "estimate", "estimate"]
    assert [count.is_exact for count in told] == [True, True, False, False, False]


def test_models_of_one_encoding_share_a_counter_that_is_loaded_once() -> None:
    asked: list[str] = []

    def none_installed(encoding: str) -> Exact | None:
        asked.append(encoding)
        return None

    counters = Counters(exact=none_installed)
    assert asked == []
    assert counters.for_model("gpt-4o") is counters.for_model("o3-mini")
    assert counters.for_model("gpt-4") is not counters.for_model("gpt-4o")
    assert asked == ["o200k_base", "cl100k_base"]


def test_without_the_extra_the_estimator_counts_and_knows_the_encoding() -> None:
    counters = Counters(exact=lambda _: None)
    newer, older = counters.for_model("gpt-4o"), counters.for_model("gpt-4")
    assert (newer.name, newer.is_exact) == ("estimate", False)
    assert newer(turn("我想改签航班")) < older(turn("我想改签航班"))


def test_all_counters_of_one_set_share_its_cache() -> None:
    counters = Counters()
    for model in ("gpt-4o", "o1", "gpt-4", None):
        counters.for_model(model)(turn("said"))
    assert (counters.counts.misses, counters.counts.hits) == (3, 1)


def test_whoever_has_no_set_of_its_own_shares_that_of_the_process() -> None:
    assert counter_for("gpt-4o") is counter_for("openai/gpt-4o-mini")
