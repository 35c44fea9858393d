"""What the trees say of a turn's ``metadata.memory``: what it does to the history, and nothing of what it holds."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.exit_codes import ExitCode
from agent.cli.memory.events.inspect_event import InspectCommand
from agent.cli.memory.sessions.history_words import history_words
from tests.cli.memory.event_store import ran, references
from tests.cli.memory.taking_away import ROLES, capture, clear, prune, run
from tests.strategies import json_values

LEAF = "6F1A0000-0000-4000-8000-00000000000A"


def words(memory: dict[str, Any]) -> list[str]:
    return list(history_words(memory, lambda turn_id: f"<{turn_id}>"))


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        ({"reset": True}, ["reset"]),
        ({"reset": "all"}, ["reset all"]),
        ({"keep_last": 2}, ["keep_last 2"]),
        ({"keep_last": 0}, ["keep_last 0"]),
        ({"keep_last": 2.0}, ["keep_last 2"]),
        ({"leaf": LEAF}, [f"leaf <{LEAF.lower()}>"]),
        ({"leaf": LEAF, "keep_last": 1, "reset": True}, ["reset", "keep_last 1", f"leaf <{LEAF.lower()}>"]),
    ],
)
def test_what_the_contract_knows_is_said_in_its_words(memory: dict[str, Any], said: list[str]) -> None:
    assert words(memory) == said


@pytest.mark.parametrize(
    "memory",
    [
        {},
        {"state_only": True, "params": {"reset": True, "card": "4111"}, "last_result": {"keep_last": 2}},
        *({"reset": other} for other in (False, None, 1, "true", "ALL", [True])),
        *({"keep_last": other} for other in (True, None, -1, 2.5, "2", [2])),
        *({"leaf": other} for other in (None, 7, "m1", f"{LEAF} ", [LEAF])),
    ],
)
def test_any_other_value_says_nothing_as_it_does_nothing(memory: dict[str, Any]) -> None:
    assert words(memory) == []


def test_a_count_of_any_length_is_short() -> None:
    assert words({"keep_last": 10**4000}) == ["keep_last 10000000000000000..."]


@given(st.dictionaries(st.sampled_from(["reset", "keep_last", "leaf", "params", "x"]), json_values))
def test_no_value_that_is_not_of_the_contract_s_shape_is_ever_shown(memory: dict[str, Any]) -> None:
    assert all(re.fullmatch(r"reset|reset all|keep_last [0-9.]+|leaf <[0-9a-f-]{36}>", each) for each in words(memory))


def test_the_events_of_clear_and_prune_say_what_they_do_to_the_history(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    capture(store, *ROLES)
    for command in (prune(2), clear(), clear(everything=True)):
        assert run(command, store)[0] == ExitCode.OK
    drawn = [ran(InspectCommand(ref, verbose=False), store)[1].splitlines()[-1] for ref in references(store)[1:]]
    assert drawn == [
        "└── [0] system     (state only)  (keep_last 2)",
        "└── [0] system     (state only)  (reset)",
        "└── [0] system     (state only)  (reset all)",
    ]
