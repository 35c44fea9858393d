"""The evaluation of the ask loop: on the data where they are at hand, and on a dialog of our own."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks import asking
from tests.conftest import REPOSITORY


@pytest.fixture(scope="module")
def data(shared: Path) -> Path:
    folder = shared / "data"
    if not (folder / asking.DIALOGS).is_file():
        pytest.skip(f"no {asking.DIALOGS} in {folder}")
    return folder


def counted(outcomes: list[asking.Outcome], part: str) -> Counter[str]:
    return Counter(each.verdict for each in outcomes if each.case.part == part)


@pytest.mark.parametrize("tuned", [True, False])
def test_fewer_than_one_in_a_hundred_answers_is_filled_wrongly(data: Path, tuned: bool) -> None:
    outcomes = asking.sgd_outcomes(data, tuned=tuned)
    for part in ("asked", "offered"):
        verdicts = counted(outcomes, part)
        assert verdicts["wrong"] < verdicts.total() / 100
    asked = counted(outcomes, "asked")
    assert asked["right"] >= (11 if tuned else 17)


def test_a_missing_parameter_of_a_call_is_never_filled_wrongly(data: Path) -> None:
    outcomes = asking.bfcl_outcomes(data)
    assert counted(outcomes, "asked") == {"right": 9, "left": 10}
    assert counted(outcomes, "not in the words") == {"left": 9}


def slot(name: str, description: str, *values: str) -> dict[str, Any]:
    return {"name": name, "description": description, "is_categorical": bool(values), "possible_values": list(values)}


def user(utterance: str, acts: list[tuple[str, str]], **state: list[str]) -> dict[str, Any]:
    actions = [{"act": act, "slot": about} for act, about in acts]
    return {
        "speaker": "USER",
        "utterance": utterance,
        "frames": [{"service": "S", "actions": actions, "state": {"slot_values": state}}],
    }


def system(*acts: tuple[str, str]) -> dict[str, Any]:
    actions = [{"act": act, "slot": about} for act, about in acts]
    return {"speaker": "SYSTEM", "utterance": "...", "frames": [{"service": "S", "actions": actions}]}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A schema, one dialog and one conversation of calls, in the shapes of the data sets."""
    slots = [slot("genre", "Main genre of the movie"), slot("seats", "Number of seats", "1", "2")]
    intent = {"required_slots": ["genre"], "optional_slots": {"seats": "1"}}
    service = {"service_name": "S", "slots": slots, "intents": [intent]}
    turns = [
        user("A movie", []),
        system(("REQUEST", "genre")),
        user("A comedy movie.", [("INFORM", "genre")], genre=["comedy"]),
        system(("CONFIRM", "seats"), ("OFFER", "unknown")),
        user("Any seat", [("INFORM", "seats")], genre=["comedy"], seats=["dontcare"]),
        system(("OFFER", "seats")),
        user("Two, please", [("SELECT", "seats")], seats=["2"]),
    ]
    calls = {
        "question": [[{"content": "tail a.txt"}], [{"content": "last 20 lines"}]],
        "ground_truth": [[], ["tail(file_name='a.txt',lines=20)"]],
    }
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / asking.SCHEMA).write_text(json.dumps([service]))
    (folder / asking.DIALOGS).write_text(json.dumps({"turns": turns}) + "\n")
    (folder / asking.CALLS).write_text(json.dumps(calls) + "\n")
    return tmp_path


def test_a_dialog_is_counted_by_what_was_asked_offered_and_told(own: Path) -> None:
    outcomes = asking.sgd_outcomes(own / "data", tuned=True)
    seen = [(each.case.part, each.case.hint.name, each.verdict) for each in outcomes if each.case.part != "amiss"]
    assert seen == [("asked", "genre", "right"), ("offered", "seats", "left"), ("offered", "seats", "right")]
    assert asking.sgd_outcomes(own / "data", tuned=False) == []


def test_a_message_amiss_is_read_for_each_slot_that_it_does_not_tell(own: Path) -> None:
    amiss = [each for each in asking.sgd_cases(own / "data") if each.part == "amiss"]
    assert [(each.hint.name, each.text, each.gold) for each in amiss] == [
        ("genre", "A movie", ()), ("seats", "A movie", ()), ("seats", "A comedy movie.", ()),
        ("genre", "Any seat", ()), ("genre", "Two, please", ()),
    ]  # fmt: skip


def test_what_a_call_was_missing_is_what_the_next_message_says(own: Path) -> None:
    cases = list(asking.bfcl_cases(own / "data"))
    assert [(each.part, each.hint.name, each.kind, each.gold) for each in cases] == [
        ("asked", "lines", "integer", ("20",))
    ]


@pytest.mark.parametrize(
    ("slot", "kind"),
    [
        (slot("has_seats", "Whether it has seats", "True", "False"), "boolean"),
        (slot("class", "Fare class", "Economy", "Business"), None),
        (slot("departure_date", "Date of departure"), "date"),
        (slot("outbound_departure_time", "Local time"), "time"),
        (slot("airport_name", "Number of the airport"), "string"),
        (slot("phone_number", "Phone number"), "digits"),
        (slot("stops", "Number of stops"), "integer"),
        (slot("humidity", "Percentage humidity"), "number"),
        (slot("city", "City where it is"), "string"),
    ],
)
def test_a_hint_is_made_from_what_a_schema_says(slot: dict[str, Any], kind: str | None) -> None:
    hint = asking.hint_of(slot)
    assert (hint.type, hint.description) == (kind, slot["description"])


def test_values_are_compared_without_case_marks_and_article() -> None:
    assert asking.plain("The 8th of March.") == asking.plain("8th of march")
    assert asking.plain(True) == asking.plain("True")
    assert asking.plain("@Julia") == asking.plain("Julia")


def run(*arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks.asking", *arguments]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout


def test_the_command_prints_a_table_for_each_part(own: Path) -> None:
    printed = run("--shared", str(own))
    titles = [line for line in printed.splitlines() if line.startswith(("SGD", "BFCL"))]
    assert titles == ["SGD, dialogs 1 to 22 (tuned on)", "SGD, dialogs 23 to 45 (held out)", "BFCL, missing parameters"]
    assert "asked             string         1      1      0      0    0.00%" in printed


def test_the_command_shows_cases_of_the_dialogs_that_are_tuned_on_alone(own: Path) -> None:
    printed = run("--shared", str(own), "--tune")
    assert "  1 asked   string  right genre: 'A comedy movie.' -> 'comedy', gold ('comedy',)" in printed
    assert "held out" not in printed


def test_the_command_says_why_it_has_no_figures(tmp_path: Path) -> None:
    assert run("--shared", str(tmp_path)).startswith(
        f"skipped: no {asking.DIALOGS}, {asking.SCHEMA}, {asking.CALLS} in "
    )
