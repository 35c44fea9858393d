"""Whatever a text repeats: what the detectors do with it is counted, and what is counted has an end."""

from collections.abc import Callable, Iterator

import pytest

from agent.content.detectors import _MOST_EFFORT, find
from agent.content.detectors.ibans import ibans
from agent.content.detectors.lettered_ids import lettered_ids
from agent.content.detectors.numbers import numbers_found
from agent.content.detectors.told import told_numbers
from agent.content.detectors.weighing import Weighing
from agent.content.found import Found
from tests.content.detectors.test_kinds import steps
from tests.hostile.shapes import ATTACKS, GROUPS, MARKS, shaped

Weighed = Callable[[str, Weighing], Iterator[Found]]
SIZE = 1_500
# Steps of Python for each character of effort; prose takes less than one, and a token of a vendor's the most.
STEPS = 8
AT_FIRST = 600


@pytest.mark.parametrize("group", GROUPS)
def test_what_is_done_with_a_text_is_counted(group: str) -> None:
    # What is read late is read before.
    find("phone 030 1234567, BSN 467207720, x")
    for name, unit in GROUPS[group].items():
        text = shaped(unit, SIZE)
        effort = find(text).effort
        assert steps(text) <= STEPS * effort + AT_FIRST, name


@pytest.mark.parametrize("name", ATTACKS)
def test_a_text_takes_no_more_than_two_looks_of_what_one_look_weighs(name: str) -> None:
    text = ATTACKS[name](600_000)
    assert find(text).effort <= 2 * _MOST_EFFORT + 8 * len(text)


@pytest.mark.parametrize("mark", MARKS)
def test_a_row_that_is_longer_than_the_longest_number_is_passed_over_in_one_step(mark: str) -> None:
    weighing = Weighing()
    for digits in ("1", "12"):
        assert not list(told_numbers(f"card{mark}" + f"{digits}{mark}" * 20_000, weighing))
    assert weighing.count == 0
    assert weighing.characters <= 400


@pytest.mark.parametrize("family", [told_numbers, numbers_found, lettered_ids, ibans])
def test_of_a_look_that_has_weighed_enough_the_rest_is_taken_and_not_weighed(family: Weighed) -> None:
    weighing = Weighing()
    weighing.characters += 24_000_000
    text = "x 4 1 1 1 1 1 1 1 1 1 1 and 4111111111111112 and 12345678A and DE00370400440532013000"
    assert list(family(text, weighing))
    assert weighing.count == 0


def test_another_look_weighs_as_much_again() -> None:
    weighing = Weighing()
    weighing.count += 20_000
    assert weighing.is_full
    weighing.begin_look()
    assert not weighing.is_full


def test_what_has_no_width_is_counted() -> None:
    assert find("\u200b" * 1_000).effort >= 1_000
    assert find("[redacted:email]" * 100).effort >= 1_600
