"""A minute of the hour that `make fuzz` takes: each target for its share, always with the same inputs' seed.

FUZZ_SECONDS and FUZZ_SEED say how long in all, and which inputs.
"""

import os

import pytest

from tests.fuzz.engine import fuzzed
from tests.fuzz.targets import OF_AN_HOUR, TARGETS, WHAT

SECONDS = float(os.environ.get("FUZZ_SECONDS", "60"))
SEED = int(os.environ.get("FUZZ_SEED") or "20261129")


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_but_a_typed_refusal_comes_of_a_made_up_input(name: str) -> None:
    target = TARGETS[name]()
    run = fuzzed(target, seed=SEED, seconds=SECONDS / len(TARGETS))
    print(run)
    assert run.executions > 0
    assert not run.findings, str(run)


def test_every_target_has_its_row_in_the_table() -> None:
    assert set(TARGETS) <= set(OF_AN_HOUR) == set(WHAT)
