"""The golden sessions: receipts and the turn table (history and state are folds of later work)."""

import pytest

from tests.conftest import vectors
from tests.store.surface import Surface

CASES = vectors("session")


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_golden_session_has_the_receipts_and_the_turn_table_of_its_vector(case: dict, surface: Surface) -> None:
    receipts = [surface.capture(payload) for payload in case["captures"]]
    assert [receipt["turns"] for receipt in receipts] == case["expected"]["receipts"]
    assert [receipt["status"] for receipt in receipts] == ["accepted"] * len(receipts)

    session = case["captures"][0]["session_id"]
    names = case["expected"]["turns"][0].keys()
    table = [{name: turn[name] for name in names} for turn in surface.turns(session)]
    assert table == case["expected"]["turns"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_golden_session_sent_again_adds_nothing(case: dict, surface: Surface) -> None:
    first = [surface.capture(payload) for payload in case["captures"]]
    before = surface.turns(case["captures"][0]["session_id"])
    again = [surface.capture(payload, execution_ref=f"again-{n}") for n, payload in enumerate(case["captures"])]
    assert [receipt["status"] for receipt in again] == ["duplicate"] * len(again)
    for old, new in zip(first, again, strict=True):
        assert {**new, "status": "accepted", "turns": old["turns"]} == old
        assert new["turns"] == {"new": 0, "known": sum(old["turns"].values()), "revised": 0, "erased": 0}
    assert surface.turns(case["captures"][0]["session_id"]) == before


def test_every_golden_session_is_here() -> None:
    assert len(CASES) == 17
