"""How well tasks are told apart, on SGD where it is at hand; and what the evaluation counts, on a dialog of our own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import later_needed, segments
from benchmarks.sgd_dialogs import DIALOGS, TUNED_ON, dialog, dialogs
from tests.conftest import REPOSITORY


@pytest.fixture(scope="module")
def data(shared: Path) -> Path:
    folder = shared / "data"
    if not (folder / DIALOGS).is_file():
        pytest.skip(f"no {DIALOGS} in {folder}")
    return folder


@pytest.mark.parametrize(("calls", "held_out", "every"), [(True, 0.85, 0.88), (False, 0.55, 0.65)])
def test_tasks_are_told_apart_better_than_by_either_baseline(
    data: Path, calls: bool, held_out: float, every: float
) -> None:
    given = list(dialogs(data, calls=calls))
    assert segments.score(given[TUNED_ON:], "segments").f1 >= held_out
    assert segments.score(given, "segments").f1 >= every
    assert segments.score(given, "every user turn").f1 < 0.2
    assert segments.score(given, "none").f1 == 0


def test_what_calls_need_was_said_before_them(data: Path) -> None:
    needs = list(later_needed.sgd_needs(data))
    assert len(needs) == 44
    for turns, needed in needs:
        assert all(given < by and turns[by].invocations for given, by in needed)


def frame(service: str, *values: str, **more: Any) -> dict[str, Any]:
    act = {"act": "INFORM", "slot": "s", "values": list(values), "canonical_values": []}
    return {"service": service, "actions": [act], **more}


def said(speaker: str, utterance: str, *frames: dict[str, Any]) -> dict[str, Any]:
    return {"speaker": speaker, "utterance": utterance, "frames": list(frames)}


OWN = [
    said("USER", "A drama.", frame("Film", "Drama")),
    said("SYSTEM", "Dogman?", frame("Film", service_call={"method": "FindFilm", "parameters": {"kind": "drama"}})),
    said("USER", "Sure. I also want to hear a song.", frame("Film"), frame("Song")),
    said("SYSTEM", "Which?", frame("Song")),
    said("USER", "Any.", frame("Song")),
]


def test_a_call_is_turns_of_its_own() -> None:
    own = dialog(1, OWN)
    assert [turn.role for turn in own.turns] == ["user", "assistant", "tool", "assistant", "user", "assistant", "user"]
    assert own.places == (0, 3, 4, 5, 6)
    assert len(dialog(1, OWN, calls=False).turns) == 5


def test_a_change_of_service_is_one_boundary_though_its_turn_names_both() -> None:
    own = dialog(1, OWN)
    assert segments.gold(own) == {4}
    assert segments.gold(own, strict=True) == {4, 6}
    assert segments.score([own], "segments") == (1, 1, 1)
    assert segments.score([own], "every user turn") == (1, 2, 1)
    assert segments.score([own], "none") == (0, 0, 1)


def test_without_the_data_it_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.segments", "--shared", str(tmp_path)],
        cwd=REPOSITORY,
        env={**os.environ},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("skipped: no sgd")
