"""Many sessions are held up to a bound, and each is read by one thread at a time while others go on."""

import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agent.errors import StoreNotFound
from agent.recall.held import HeldSessions
from tests.recall.embedded import SESSION, Memory, Watched, embedded
from tests.strategies import fresh_payload

OTHER = "aaaaaaaa-8b4e-4f70-9a51-0c2d3e4f5a61"


@pytest.fixture
def store() -> Iterator[Memory]:
    with embedded() as opened:
        yield opened


def conversation(session_id: str, turns: int, content: str = "words") -> dict[str, Any]:
    return {**fresh_payload(turns, content), "session_id": session_id}


def test_who_was_asked_for_longest_ago_goes_first(store: Memory) -> None:
    names = [str(uuid.UUID(int=number)) for number in range(4)]
    reads = Watched(store.client.reads)
    # A turn of these is half a KiB: each session counts ten turns, and five for their text.
    sessions = HeldSessions(reads, max_turns=47)
    for name in names[:3]:
        store.capture(conversation(name, 10, "x" * 100))
        sessions.session(name)
    sessions.session(names[0])
    reads.taken()
    store.capture(conversation(names[3], 10, "x" * 100))
    sessions.session(names[3])
    reads.taken()
    for name in (names[0], names[2], names[3]):
        sessions.session(name)
        assert reads.taken() == ["row"]
    sessions.session(names[1])
    assert reads.taken() == ["row", "turns"]


def test_what_is_more_than_may_be_held_is_read_each_time_and_pushes_nobody_out_for_good(store: Memory) -> None:
    reads = Watched(store.client.reads)
    sessions = HeldSessions(reads, max_turns=20, whole_bytes=0)
    store.capture(conversation(SESSION, 21))
    store.capture(conversation(OTHER, 20))
    for _ in range(2):
        assert len(sessions.session(SESSION).state.turns) == 21
        assert reads.taken() == ["row", "turns"]
    sessions.session(OTHER)
    reads.taken()
    sessions.session(OTHER)
    assert reads.taken() == ["row"]


def test_a_session_that_grows_counts_for_what_it_is_now(store: Memory) -> None:
    reads = Watched(store.client.reads)
    sessions = HeldSessions(reads, max_turns=20, whole_bytes=0)
    for name in (OTHER, SESSION):
        store.capture(conversation(name, 10))
        sessions.session(name)
    store.capture(conversation(SESSION, 1))
    sessions.session(SESSION)
    reads.taken()
    sessions.session(SESSION)
    assert reads.taken() == ["row"]
    sessions.session(OTHER)
    assert reads.taken() == ["row", "turns"]


def test_names_that_nobody_has_take_no_room(store: Memory) -> None:
    sessions = HeldSessions(store.client.reads)
    for number in range(10):
        with pytest.raises(StoreNotFound):
            sessions.session(str(uuid.UUID(int=number)))
    assert len(sessions._places) == 0


def test_nobody_waits_for_another_session(store: Memory) -> None:
    store.capture(conversation(SESSION, 1))
    store.capture(conversation(OTHER, 1))
    asked, go_on = threading.Event(), threading.Event()

    def stall_once(_: str) -> None:
        if not asked.is_set():
            asked.set()
            assert go_on.wait(30)

    sessions = HeldSessions(Watched(store.client.reads, before=stall_once))
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(sessions.session, SESSION)
        assert asked.wait(30)
        assert len(sessions.session(OTHER).state.turns) == 1
        assert not slow.done()
        go_on.set()
        assert len(slow.result(30).state.turns) == 1


def test_a_session_that_lost_its_room_while_it_was_read_is_answered_all_the_same(store: Memory) -> None:
    store.capture(conversation(SESSION, 10))
    store.capture(conversation(OTHER, 10))
    reads = Watched(store.client.reads)
    sessions = HeldSessions(reads, max_turns=15, whole_bytes=0)
    sessions.session(SESSION)

    def ask_for_the_other(_: str) -> None:
        reads.before = lambda _: None
        sessions.session(OTHER)

    reads.before = ask_for_the_other
    assert len(sessions.session(SESSION).state.turns) == 10
    reads.taken()
    sessions.session(OTHER)
    assert reads.taken() == ["row"]


def test_many_threads_see_a_growing_session_in_order_and_nothing_of_it_twice(store: Memory) -> None:
    first = conversation(SESSION, 1)
    store.capture(first)
    sessions = HeldSessions(store.client.reads)
    done = threading.Event()

    def read() -> list[int]:
        lengths = []
        while not done.is_set():
            turns = sessions.session(SESSION).state.history
            assert len({turn.turn_id for turn in turns}) == len(turns)
            lengths.append(len(turns))
        return lengths

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(4)]
        for _ in range(60):
            store.capture({**fresh_payload(1), "session_id": SESSION, "conversation_id": first["conversation_id"]})
        done.set()
        for reader in readers:
            lengths = reader.result(60)
            assert lengths == sorted(lengths)
    assert len(sessions.session(SESSION).state.history) == 61
