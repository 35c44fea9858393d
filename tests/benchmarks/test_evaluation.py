"""The evaluation on LoCoMo: skipped with its reason where the data are absent, and right where they are there."""

import subprocess
import sys

import pytest

from agent.core.window.policy import Policy
from agent.core.window.window import prepare
from agent.recall.relevance import ranker_for
from benchmarks.locomo import FILE, dialogs
from benchmarks.locomo_windows import BUDGETS, Found, Quarter, found, kept_places, misses, row, together


@pytest.fixture(scope="module")
def locomo(shared):
    if not (shared / "data" / FILE).is_file():
        pytest.skip(f"no {FILE} in the shared data")
    return dialogs(shared / "data")


def test_without_the_data_it_is_skipped_with_the_reason(tmp_path):
    command = [sys.executable, "-m", "benchmarks.evaluation", "--shared", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith(f"skipped: no {FILE} in {tmp_path}")


def test_the_dialogs_are_turns_and_questions_that_point_at_them(locomo):
    assert [len(dialog.turns) for dialog in locomo] == [419, 369, 629, 689, 509]
    assert sum(len(dialog.questions) for dialog in locomo) == 729
    for dialog in locomo:
        assert dialog.turns[0].role == "user"
        assert {turn.role for turn in dialog.turns} == {"user", "assistant"}
        assert all(question.evidence <= set(range(len(dialog.turns))) for question in dialog.questions)


def test_a_turn_says_who_speaks_what_and_what_is_in_the_picture(locomo):
    first, pictured = locomo[0].turns[0], locomo[0].turns[4]
    assert first.content.startswith("Caroline: Hey Mel!")
    assert first.timestamp == "2023-05-08T13:56:00+00:00"
    assert pictured.content.endswith("[a photo of a dog walking past a wall with a painting of a woman]")


def test_a_rolling_window_holds_the_newest_turns_and_so_the_evidence_that_is_there(locomo):
    dialog = locomo[1]
    kept = kept_places(prepare(dialog.turns, Quarter()), Policy(strategy="rolling_window", max_tokens=2000))
    assert kept == frozenset(range(min(kept), len(dialog.turns)))
    held = sum(question.evidence <= kept for question in dialog.questions)
    assert found(dialog, "rolling_window", ranker_for).by_budget[2000] == held


def test_by_relevance_most_evidence_is_found_in_a_window_that_holds_a_sixth(locomo):
    dialog = locomo[1]
    prepared = prepare(dialog.turns, Quarter())
    ranker = ranker_for()
    held = [
        question.evidence
        <= kept_places(prepared, Policy(strategy="relevant", max_tokens=2000, query=question.text), ranker)
        for question in dialog.questions
    ]
    assert sum(held) / len(held) >= 0.8


def test_a_share_below_its_bound_is_marked_and_said():
    total = together([Found(2, dict.fromkeys(BUDGETS, 1)), Found(2, dict.fromkeys(BUDGETS, 2))])
    assert total.shares == (0.75,) * 4
    assert misses("some", total, (0.75,) * 4) == []
    assert misses("some", total, (0.8, 0.7, 0.75, 0.76)) == [
        "  missed: some, 2000 tokens: 0.750 of 0.8",
        "  missed: some, 16000 tokens: 0.750 of 0.76",
    ]
    assert row("some", total, (0.8, 0.7, 0.75, 0.76)).split()[1:] == ["4", "0.750!", "0.750", "0.750", "0.750!"]
