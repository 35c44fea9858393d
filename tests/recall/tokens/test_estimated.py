"""The estimator beside the exact counts: per conversation of all data, and in other scripts, code and emoji apart."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from agent.core.turn import SessionTurn
from agent.core.window.counting import Counting
from agent.core.window.estimate import Estimator
from agent.recall.tokens.exact import Exact, load
from tests.core.window.scripts import CODE, EMOJI, SPOKEN
from tests.formats.corpus import OURS
from tests.recall.tokens.conversations import conversations, dialogs

LEAST, MOST = 0.95, 1.25


@pytest.fixture(scope="module", params=["cl100k_base", "o200k_base"])
def exact(request: pytest.FixtureRequest) -> Exact:
    found = load(request.param)
    assert found is not None
    return found


def tokens(count: Counting, turns: Iterable[SessionTurn]) -> int:
    return count.overhead + sum(map(count, turns))


def out_of_range(found: Iterable[tuple[str, list[SessionTurn]]], exact: Exact) -> list[tuple[str, int, int]]:
    odd = []
    for name, turns in found:
        real = tokens(exact, turns)
        for estimate in (Estimator(), Estimator(exact.name)):
            told = tokens(estimate, turns)
            if not LEAST * real <= told <= MOST * real:
                odd.append((name, real, told))
    return odd


def test_every_conversation_of_our_data_is_estimated_within_the_range(exact: Exact) -> None:
    assert out_of_range(conversations(OURS), exact) == []


def test_every_conversation_of_the_shared_data_is_estimated_within_the_range(exact: Exact, shared: Path) -> None:
    found = list(conversations(shared / "data"))
    assert len(found) > 400
    assert out_of_range(found, exact) == []


def test_every_dialog_of_the_evaluation_data_is_estimated_within_the_range(exact: Exact, shared: Path) -> None:
    path = shared / "data/nc/locomo10__5-dialogs.json"
    if not path.is_file():
        pytest.skip(f"no evaluation data at {path}")
    assert out_of_range(dialogs(path), exact) == []


def test_code_is_estimated_within_the_range(exact: Exact) -> None:
    assert LEAST <= Estimator().text(CODE) / exact.text(CODE) <= MOST


@pytest.mark.parametrize("language", SPOKEN)
def test_with_its_encoding_named_another_script_is_estimated_within_a_third(exact: Exact, language: str) -> None:
    # A single text of a language: a few rare words weigh much. Vietnamese is most overestimated.
    text = SPOKEN[language]
    most = 1.7 if language == "Vietnamese" else 1.34
    assert 0.8 <= Estimator(exact.name).text(text) / exact.text(text) <= most


def test_without_a_name_the_larger_of_the_two_counts_is_estimated() -> None:
    assert all(Estimator().text(text) == Estimator("cl100k_base").text(text) for text in SPOKEN.values())


def test_emoji_are_estimated_within_the_range_where_the_encoding_is_named(exact: Exact) -> None:
    assert LEAST <= Estimator(exact.name).text(EMOJI) / exact.text(EMOJI) <= MOST
