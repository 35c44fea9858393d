"""Read your writes: a session is not answered before the store has reached what its reader was told."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent.errors import NotYetThere, StoreNotFound
from agent.recall.held import HeldSessions
from tests.recall.embedded import SESSION, Memory, Watched, embedded
from tests.strategies import fresh_payload


def conversation(turns: int = 1, **more: Any) -> dict[str, Any]:
    return {**fresh_payload(turns), "session_id": SESSION, **more}


class Time:
    """A clock that only sleeping moves; ``meanwhile`` is done when somebody sleeps."""

    def __init__(self, *meanwhile: Callable[[], object]) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        self._meanwhile = list(meanwhile)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)
        if self._meanwhile:
            self._meanwhile.pop(0)()

    def clock(self) -> float:
        return self.now


@pytest.fixture
def store() -> Iterator[Memory]:
    with embedded() as opened:
        yield opened


def sessions(store: Memory, time: Time, **more: Any) -> HeldSessions:
    return HeldSessions(store.client.reads, sleep=time.sleep, clock=time.clock, **more)


@pytest.mark.parametrize("least", [-1, 0, 1, 2])
def test_a_session_that_is_there_already_is_answered_at_once(least: int, store: Memory) -> None:
    store.capture(conversation())
    position = store.capture(conversation())
    assert position == 2
    time = Time()
    held = sessions(store, time).session(SESSION, min_version=least)
    assert (len(held.state.turns), time.slept) == (2, [])


def test_a_store_that_is_behind_is_asked_again_until_it_is_there(store: Memory) -> None:
    store.capture(conversation())
    time = Time(lambda: None, lambda: store.capture(conversation()))
    held = sessions(store, time).session(SESSION, min_version=2)
    assert (held.version, len(held.state.turns), len(time.slept)) == (2, 2, 2)


def test_a_capture_that_changed_nothing_is_there_when_the_log_is(store: Memory) -> None:
    first = conversation()
    store.capture(first)
    position = store.capture({**first, "context": {"agent_id": "other"}})
    time = Time()
    held = sessions(store, time).session(SESSION, min_version=position)
    assert (held.version, position, time.slept) == (1, 2, [])


def test_what_came_between_the_session_and_the_log_is_in_the_answer(store: Memory) -> None:
    """The session is read, then somebody writes, then the log says that it is there: the session is read once more."""
    store.capture(conversation())
    reads = Watched(store.client.reads, before=lambda what: store.capture(conversation()) if what == "feed" else None)
    held = HeldSessions(reads).session(SESSION, min_version=2)
    assert (held.version, len(held.state.turns)) == (2, 2)
    assert reads.taken() == ["row", "turns", "feed", "row", "turns"]


def test_a_store_that_stays_behind_is_not_yet_there(store: Memory) -> None:
    store.capture(conversation())
    time = Time()
    with pytest.raises(NotYetThere) as raised:
        sessions(store, time).session(SESSION, min_version=7)
    assert (raised.value.status, raised.value.error_code) == (409, "VALIDATION_ERROR")
    assert raised.value.headers == {"Retry-After": "1"}
    assert sum(time.slept) == pytest.approx(2.0)
    assert time.slept == sorted(time.slept[:-1]) + time.slept[-1:]
    assert max(time.slept) <= 0.25


def test_a_session_that_comes_while_it_is_waited_for_is_answered(store: Memory) -> None:
    time = Time(lambda: store.capture(conversation()))
    held = sessions(store, time).session(SESSION, min_version=1)
    assert (held.version, len(time.slept)) == (1, 1)


def test_a_session_that_does_not_come_is_not_found(store: Memory) -> None:
    time = Time()
    with pytest.raises(StoreNotFound):
        sessions(store, time, longest_wait_s=1.0).session(SESSION, min_version=3)
    assert sum(time.slept) == pytest.approx(1.0)


def test_a_session_that_is_not_in_a_log_that_is_there_is_not_waited_for(store: Memory) -> None:
    position = store.capture(fresh_payload(1))
    time = Time()
    with pytest.raises(StoreNotFound):
        sessions(store, time).session(SESSION, min_version=position)
    assert time.slept == []


@pytest.mark.parametrize("least", [-5, 0])
def test_every_log_has_reached_its_beginning(least: int, store: Memory) -> None:
    time = Time()
    with pytest.raises(StoreNotFound):
        sessions(store, time).session(SESSION, min_version=least)
    assert time.slept == []


@pytest.mark.parametrize("least", [2**40, 2**63 - 1])
def test_a_position_that_no_log_can_reach_is_not_yet_there(least: int, store: Memory) -> None:
    store.capture(conversation())
    with pytest.raises(NotYetThere):
        sessions(store, Time()).session(SESSION, min_version=least)


def test_the_position_of_an_erasure_is_reached_in_the_session_that_it_changed(store: Memory) -> None:
    store.capture(conversation())
    store.client.erasure.session(SESSION)
    time = Time()
    held = sessions(store, time).session(SESSION, min_version=2)
    assert ([turn.erased for turn in held.state.turns], time.slept) == ([True], [])


def test_the_position_of_an_erasure_elsewhere_is_not_seen_before_the_next_event(store: Memory) -> None:
    """The feed shows no erasures: nobody can tell this store from one that has not erased it yet."""
    elsewhere = fresh_payload(1)
    store.capture(conversation())
    store.capture(elsewhere)
    position = store.client.erasure.session(elsewhere["session_id"]).position
    with pytest.raises(NotYetThere):
        sessions(store, Time()).session(SESSION, min_version=position)
    store.capture(fresh_payload(1))
    assert sessions(store, Time()).session(SESSION, min_version=position).version == 1


def test_a_store_without_a_feed_is_judged_by_the_session_alone(store: Memory) -> None:
    store.capture(conversation())

    def no_feed(what: str) -> None:
        if what == "feed":
            raise StoreNotFound("no such path")

    time = Time(lambda: store.capture(conversation()))
    reads = Watched(store.client.reads, before=no_feed)
    found = HeldSessions(reads, sleep=time.sleep, clock=time.clock)
    assert found.session(SESSION, min_version=2).version == 2
    with pytest.raises(NotYetThere):
        found.session(SESSION, min_version=3)


def test_nobody_waits_for_somebody_who_waits_for_the_store(store: Memory) -> None:
    store.capture(conversation())
    read: list[int] = []
    time = Time(lambda: read.append(len(found.session(SESSION).state.turns)))
    found = sessions(store, time, longest_wait_s=0.02)
    with pytest.raises(NotYetThere):
        found.session(SESSION, min_version=2)
    assert read == [1]
