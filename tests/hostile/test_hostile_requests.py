"""What is wrong with a request is answered at once, in typed JSON, within the memory of a function."""

import pytest

from tests.hostile.bodies import BODIES
from tests.hostile.run import Course, at_once, bodies, heads
from tests.hostile.targets import NAMES, Target

pytestmark = pytest.mark.slow

MEMORY_MIB = 256
# RFC 9112 3.2.2: a server takes the absolute form; an upgrade that is not offered is passed over.
ANSWERED_AS_ANY = {"absolute form", "Upgrade: h2c"}
# A queue is told to come again with what broke off on its way (ADR 19).
COME_AGAIN = 503
WORST = ("gzip of 150 MiB of zeros, 1000:1", "chunks without end", "250 000 values", "the hardest 10 MiB")


def assert_nothing_is_left(course: Course) -> None:
    assert course.beside.all_served(), course.beside.said
    assert course.is_all_let_go(), (course.before, course.after)
    assert course.peak_mib < MEMORY_MIB


@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_wrong_with_a_request_its_answer_is_typed_and_others_are_served(
    running: dict[str, Target], name: str
) -> None:
    course = heads(running[name])
    for outcome in course.outcomes:
        [answer] = outcome.answers
        assert outcome.is_typed, outcome
        statuses = [int(status) for status in answer.split(", ") if status != "closed"]
        if outcome.name not in ANSWERED_AS_ANY | {"a hundred in one go"}:
            assert all(400 <= status < 500 or (name, status) == ("events", COME_AGAIN) for status in statuses), outcome
        assert "smuggled" not in answer
        assert len(statuses) <= (6 if outcome.name == "a hundred in one go" else 2), outcome
    assert_nothing_is_left(course)


def test_hostile_bodies_are_refused_or_captured_as_the_contract_says(running: dict[str, Target]) -> None:
    course = bodies(running["capture"])
    expected = {body.name: {str(body.status): 1} for body in BODIES}
    assert {outcome.name: outcome.answers for outcome in course.outcomes} == expected
    assert_nothing_is_left(course)
    print(*(f"{outcome.name}: {outcome.peak_mib:.0f} MiB" for outcome in course.outcomes), sep="\n")


@pytest.mark.parametrize(
    ("name", "allowed"), [("events", {200, 400, 413}), ("recall", {200, 400, 413}), ("store", {400, 413})]
)
def test_no_other_server_is_brought_down_by_them(running: dict[str, Target], name: str, allowed: set[int]) -> None:
    course = bodies(running[name], WORST)
    assert len(course.outcomes) == len(WORST)
    for outcome in course.outcomes:
        assert {int(status) for status in outcome.answers} <= allowed, outcome
    assert_nothing_is_left(course)


@pytest.mark.parametrize("name", ["capture", "recall"])
def test_eight_at_once_fit_into_the_memory_of_a_function(running: dict[str, Target], name: str) -> None:
    course = at_once(running[name], "250 000 values", 8)
    [outcome] = course.outcomes
    assert {int(status) for status in outcome.answers} <= {200, 400, 413, 429, COME_AGAIN}, outcome
    assert_nothing_is_left(course)
