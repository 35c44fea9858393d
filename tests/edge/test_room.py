"""Large bodies wait for one another, small ones for nobody, and whoever waits too long is told to come again."""

import gzip
import io
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.edge.body import read_body
from agent.edge.room import SMALL_BYTES, Room
from agent.errors import RateLimitExceeded

CAPACITY = 10 * SMALL_BYTES
LARGE = 6 * SMALL_BYTES
GENEROUS_S = 60.0


def room(wait_s: float = 0.0) -> Room:
    return Room(CAPACITY, clock=time.monotonic, wait_s=wait_s)


def has_room_for(made: Room, size: int, *, is_envelope: bool = False) -> bool:
    """Whether one more body of ``size`` bytes would be taken now."""
    with made.place(is_envelope=is_envelope) as place:
        try:
            place.hold(size)
            place.settle(size)
        except RateLimitExceeded:
            return False
        return True


def test_together_large_bodies_have_the_bytes_of_the_room_and_no_more():
    made = room()
    with made.place() as first:
        first.hold(LARGE)
        assert has_room_for(made, CAPACITY - LARGE)
        assert not has_room_for(made, CAPACITY - LARGE + 1)
        first.settle(LARGE)
        assert not has_room_for(made, CAPACITY - LARGE + 1)
    assert has_room_for(made, CAPACITY)


def test_a_small_body_waits_for_nobody():
    made = room()
    with made.place() as first:
        first.hold(CAPACITY - SMALL_BYTES)
        assert has_room_for(made, SMALL_BYTES)
        assert has_room_for(made, SMALL_BYTES, is_envelope=True)
        assert not has_room_for(made, CAPACITY)


def test_what_is_larger_than_the_room_is_taken_when_it_is_alone():
    made = room()
    assert has_room_for(made, 2 * CAPACITY, is_envelope=True)
    with made.place() as first:
        first.hold(LARGE)
        assert not has_room_for(made, 2 * CAPACITY)


def test_of_bodies_whose_size_nobody_knows_one_is_read_at_a_time():
    made = room()
    with made.place() as first:
        first.hold(None)
        with made.place() as second, pytest.raises(RateLimitExceeded):
            second.hold(None)
        assert has_room_for(made, CAPACITY), "what is of a known size passes"
        first.settle(LARGE)
        assert not has_room_for(made, LARGE)
    with made.place() as third:
        third.hold(None)
        third.settle(SMALL_BYTES)
        assert has_room_for(made, CAPACITY, is_envelope=True), "what turns out small holds nothing"


def test_a_payload_counts_and_not_the_envelope_that_it_came_in():
    made = room()
    with ExitStack() as stack:
        for _ in range(2):
            place = stack.enter_context(made.place(is_envelope=True))
            place.hold(LARGE - 2 * SMALL_BYTES)
            place.settle(3 * SMALL_BYTES)
        assert has_room_for(made, 4 * SMALL_BYTES)
        assert not has_room_for(made, 4 * SMALL_BYTES + 1)


def test_nobody_opens_one_of_the_largest_while_another_is_at_work():
    made = room()
    with made.place() as at_work:
        at_work.hold(CAPACITY)
        for size in (CAPACITY, None):
            with made.place(is_envelope=True) as place, pytest.raises(RateLimitExceeded):
                place.hold(size)


def test_who_waits_too_long_is_told_when_to_come_again_and_holds_nothing():
    made = room()
    with made.place() as first:
        first.hold(CAPACITY)
        with made.place() as late, pytest.raises(RateLimitExceeded) as raised:
            late.hold(LARGE)
        assert (raised.value.status, raised.value.headers) == (429, {"Retry-After": "5"})
        assert raised.value.details == {"limit": "memory"}
    assert has_room_for(made, CAPACITY)


def test_a_large_body_that_waits_is_not_passed_by_those_that_would_still_fit():
    made = room(GENEROUS_S)
    order: list[str] = []

    def body(name: str, size: int) -> None:
        with made.place() as place:
            place.hold(size)
            order.append(name)

    first = made.place()
    first.hold(LARGE)
    large = threading.Thread(target=body, args=("large", CAPACITY))
    large.start()
    wait_until(lambda: waiting(made) == 1)
    later = threading.Thread(target=body, args=("later", 2 * SMALL_BYTES))
    later.start()
    wait_until(lambda: waiting(made) == 2)
    first.__exit__()
    large.join(GENEROUS_S)
    later.join(GENEROUS_S)
    assert order == ["large", "later"]


def test_no_two_wait_for_each_other_and_never_is_more_at_work_than_the_room_holds():
    made = room(GENEROUS_S)
    rng = random.Random(4471)
    at_work, most = 0, 0
    lock = threading.Lock()

    def body(size: int, kind: int) -> None:
        nonlocal at_work, most
        with made.place(is_envelope=kind == 0) as place:
            place.hold(None if kind == 1 else size)
            place.settle(size)
            with lock:
                at_work += min(size, CAPACITY)
                most = max(most, at_work)
            with lock:
                at_work -= min(size, CAPACITY)

    with ThreadPoolExecutor(8) as pool:
        done = [pool.submit(body, rng.randrange(SMALL_BYTES + 1, 2 * CAPACITY), rng.randrange(3)) for _ in range(2000)]
        for one in done:
            one.result(GENEROUS_S)
    assert 0 < most <= CAPACITY
    assert has_room_for(made, CAPACITY)


announced, counted = st.none() | st.integers(0, 2 * CAPACITY), st.integers(0, CAPACITY)


@given(st.lists(st.tuples(st.booleans(), announced, counted), max_size=9))
def test_whatever_comes_and_is_refused_all_of_the_room_is_there_again(bodies):
    made = room()
    with ExitStack() as stack:
        for is_envelope, size, payload in bodies:
            place = stack.enter_context(made.place(is_envelope=is_envelope))
            try:
                place.hold(size)
                place.settle(payload)
            except RateLimitExceeded:
                continue
    assert has_room_for(made, CAPACITY)
    assert has_room_for(made, CAPACITY, is_envelope=True)


@pytest.mark.parametrize("encoding", [None, "gzip"])
def test_a_body_of_unknown_size_takes_its_place_as_soon_as_it_is_large(encoding):
    large, small = b"x" * (SMALL_BYTES + 1), b"x" * SMALL_BYTES
    made = room()
    with made.place() as other:
        other.hold(None)
        for data in (small, large):
            sent = io.BytesIO(data if encoding is None else gzip.compress(data))
            with made.place() as place:
                if data is small:
                    assert read_body(sent, content_length=None, encoding=encoding, place=place) == data
                else:
                    with pytest.raises(RateLimitExceeded):
                        read_body(sent, content_length=None, encoding=encoding, place=place)


def test_a_body_of_known_size_takes_its_place_before_it_is_read():
    made = room()
    sent = io.BytesIO(b"x" * LARGE)
    with made.place() as other, made.place() as place:
        other.hold(CAPACITY)
        with pytest.raises(RateLimitExceeded):
            read_body(sent, content_length=LARGE, encoding=None, place=place)
    assert sent.tell() == 0


def waiting(made: Room) -> int:
    return len(made.space._line)


def wait_until(holds):
    end = time.monotonic() + GENEROUS_S
    while not holds():
        assert time.monotonic() < end
        threading.Event().wait(0.005)
