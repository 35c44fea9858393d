"""The score against slot spans counts right, and on the shared dialogs it stays where it was measured."""

import json

import pytest

from benchmarks.entity_spans import NO_ENTITIES, scored, table
from benchmarks.sgd_dialogs import DIALOGS

# A dialog of our own in the shape of the data set, which may not be copied (CC BY-SA).
DIALOG = {
    "turns": [
        {
            "utterance": "A table at Kronenhalle in Zurich on May 4th at 7 pm.",
            "frames": [
                {
                    "slots": [
                        {"slot": "restaurant_name", "start": 11, "exclusive_end": 22},
                        {"slot": "location", "start": 26, "exclusive_end": 32},
                        {"slot": "date", "start": 36, "exclusive_end": 40},
                    ]
                },
                {"slots": [{"slot": "location", "start": 26, "exclusive_end": 32}]},
            ],
        },
        {"utterance": "comedy", "frames": [{"slots": [{"slot": "genre", "start": 0, "exclusive_end": 6}]}]},
    ]
}


def test_a_span_is_told_exactly_or_in_part_or_not_and_what_is_no_slot_stands_beside():
    score = scored([DIALOG])
    assert score.spans == {"restaurant_name": 1, "location": 1, "date": 1, "genre": 1}
    assert +score.exact == {"restaurant_name": 1, "location": 1}
    assert +score.part == {"restaurant_name": 1, "location": 1, "date": 1}
    assert score.told == 4
    assert [(each.name, each.text) for each in score.beside] == [("TIME", "7 pm")]


def test_the_table_gives_both_halves_apart(tmp_path):
    (tmp_path / DIALOGS).write_text("\n".join(json.dumps(DIALOG) for _ in range(3)))
    shown = table(tmp_path)
    (row,) = [line.split() for line in shown.splitlines() if "identifiers and names" in line]
    assert row == ["identifiers", "and", "names", "0.67", "/", "1.00", "of", "6", "0.67", "/", "1.00", "of", "3"]
    assert "held out: 4 entities told, 1 of them no slot: TIME 1" in shown


def test_the_half_that_nobody_looked_at_is_told_as_measured(shared):
    if not (shared / "data" / DIALOGS).is_file():
        pytest.skip(f"no {DIALOGS} in the shared data, and its licence (CC BY-SA) does not let it be copied here")
    lines = (shared / "data" / DIALOGS).read_text().splitlines()
    score = scored(json.loads(line) for line in lines[1::2])
    named = [slot for slot in score.spans if slot not in NO_ENTITIES]
    assert sum(score.part[slot] for slot in named) / sum(score.spans[slot] for slot in named) >= 0.6
    assert len(score.beside) / score.told <= 0.15
