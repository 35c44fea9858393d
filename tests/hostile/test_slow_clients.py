"""Who is slow on purpose has an end, and nobody else notices. All servers are attacked at the same time."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.hostile.run import Course, crowd, slow
from tests.hostile.targets import NAMES, Target

pytestmark = pytest.mark.slow

MEMORY_MIB = 256


@pytest.fixture(scope="module")
def slowed(running: dict[str, Target]) -> dict[str, Course]:
    with ThreadPoolExecutor(len(NAMES)) as pool:
        return dict(zip(NAMES, pool.map(lambda name: slow(running[name]), NAMES), strict=True))


@pytest.fixture(scope="module")
def crowded(running: dict[str, Target], slowed: dict[str, Course]) -> dict[str, Course]:
    # After the slow ones, and in what they left.
    *functions, store = NAMES
    assert set(slowed) == {*functions, store}
    with ThreadPoolExecutor(len(functions)) as pool:
        courses = dict(zip(functions, pool.map(lambda name: crowd(running[name]), functions), strict=True))
    # By itself: the functions' own connections to it would be counted.
    return {**courses, store: crowd(running[store])}


@pytest.mark.parametrize("name", NAMES)
def test_no_slow_client_keeps_its_connection_longer_than_it_may(slowed: dict[str, Course], name: str) -> None:
    for outcome in slowed[name].outcomes:
        assert "open" not in outcome.answers, outcome


@pytest.mark.parametrize("name", NAMES)
def test_who_sends_a_body_too_slowly_is_told_so_or_closed_on(slowed: dict[str, Course], name: str) -> None:
    allowed = {"closed", "400", "429", "503"} if name in {"events", "store"} else {"closed", "400", "429"}
    slow_bodies = [outcome for outcome in slowed[name].outcomes if "body" in outcome.name or "gzip" in outcome.name]
    assert len(slow_bodies) >= 4
    for outcome in slow_bodies:
        assert set(outcome.answers) <= allowed | ({"200"} if "whole" in outcome.name else set()), outcome


@pytest.mark.parametrize("name", NAMES)
def test_ordinary_callers_are_served_all_the_while(slowed: dict[str, Course], name: str) -> None:
    beside = slowed[name].beside
    assert beside.all_served(), beside.said
    print(f"{name}: {len(beside.said)} asked, the slowest {beside.slowest_s:.2f} s, {slowed[name].peak_mib:.0f} MiB")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_left_of_them(slowed: dict[str, Course], name: str) -> None:
    course = slowed[name]
    assert course.is_all_let_go(), (course.before, course.after)
    assert course.peak_mib < MEMORY_MIB


@pytest.mark.parametrize("name", NAMES)
def test_a_thousand_connections_stop_nobody(crowded: dict[str, Course], name: str) -> None:
    course = crowded[name]
    silent, asking = course.outcomes
    assert silent.answers == {"closed": 1000}
    assert "open" not in asking.answers, asking
    assert "closed" not in asking.answers, asking
    assert course.beside.all_served(), course.beside.said
    assert course.is_all_let_go(), (course.before, course.after)
    assert course.peak_mib < MEMORY_MIB
