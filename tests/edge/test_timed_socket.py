"""How long a client may keep us waiting is counted over all of its pauses."""

import socket
import threading
from collections.abc import Iterator

import pytest

from agent.edge.timed_socket import MAX_UNSENT_BYTES, READING_S, TimedSocket

GENEROUS_S = 30.0


class Clock:
    """A clock that stands until it is told."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class SlowPeer:
    """Sends ``pieces``, and the clock goes on by ``pause_s`` before each."""

    def __init__(self, peer: socket.socket, clock: Clock) -> None:
        self._peer, self._clock = peer, clock

    def send(self, pause_s: float) -> None:
        def later() -> None:
            self._clock.now += pause_s
            self._peer.sendall(b"x")

        timer = threading.Timer(0.02, later)
        timer.start()
        self._timer = timer

    def join(self) -> None:
        self._timer.join(GENEROUS_S)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ends(clock: Clock) -> Iterator[tuple[TimedSocket, socket.socket]]:
    ours, peer = socket.socketpair()
    with TimedSocket.of(ours, clock=clock) as timed, peer:
        yield timed, peer


def test_a_byte_every_nine_seconds_is_not_read_for_ever(ends, clock):
    timed, peer = ends
    slow = SlowPeer(peer, clock)
    for _ in range(2):
        slow.send(9.0)
        assert timed.recv(100) == b"x"
        slow.join()
    with pytest.raises(TimeoutError):
        timed.recv(100)
    assert READING_S < 2 * 9.0


def test_a_timeout_that_the_server_sets_of_its_own_does_not_begin_the_time_anew(ends, clock):
    timed, peer = ends
    timed.settimeout(GENEROUS_S)
    slow = SlowPeer(peer, clock)
    for _ in range(2):
        slow.send(9.0)
        assert timed.recv(100) == b"x"
        slow.join()
    with pytest.raises(TimeoutError):
        timed.recv(100)
    assert timed.gettimeout() == GENEROUS_S


def test_what_is_there_is_read_however_much_time_went_by(ends, clock):
    timed, peer = ends
    clock.now += 1000.0
    peer.sendall(b"abc")
    assert timed.recv(100) == b"abc"
    timed.allow(reading_s=0.0)
    peer.sendall(b"def")
    assert timed.recv(100) == b"def"
    with pytest.raises(TimeoutError):
        timed.recv(100)


def test_a_new_request_has_all_of_its_time(ends, clock):
    timed, peer = ends
    slow = SlowPeer(peer, clock)
    for _ in range(3):
        timed.allow()
        slow.send(9.0)
        assert timed.recv(100) == b"x"
        slow.join()


def test_who_is_hurried_has_no_more_time_than_before(ends):
    timed, _ = ends
    timed.hurry(0.01)
    timed.hurry(100.0)
    with pytest.raises(TimeoutError):
        timed.recv(1)


def test_a_peer_that_has_closed_is_at_its_end(ends):
    timed, peer = ends
    peer.close()
    assert timed.recv(100) == b""


def test_what_the_client_does_not_take_is_kept_to_be_sent_later(ends):
    timed, peer = ends
    sent = bytes(range(256)) * 4000
    timed.sendall(sent)
    timed.sendall(b"end")
    assert 0 < len(timed.unsent) <= MAX_UNSENT_BYTES
    received = bytearray()
    while not timed.flush():
        received += peer.recv(1 << 20)
    timed.shutdown(socket.SHUT_WR)
    while piece := peer.recv(1 << 20):
        received += piece
    assert received == sent + b"end"


def test_an_answer_that_is_too_much_to_keep_is_given_up_where_nobody_reads(ends):
    timed, _ = ends
    timed.allow(writing_s=0.05)
    with pytest.raises(BrokenPipeError):
        timed.sendall(bytes(64 * 1024 * 1024))
    assert not timed.unsent


def test_an_answer_arrives_whole_however_slowly_it_is_read(ends):
    timed, peer = ends
    sent = bytes(range(256)) * 20_000
    received = bytearray()

    def read() -> None:
        while piece := peer.recv(10_000):
            received.extend(piece)

    reader = threading.Thread(target=read)
    reader.start()
    timed.sendall(sent)
    while not timed.flush():
        threading.Event().wait(0.001)
    timed.shutdown(socket.SHUT_WR)
    reader.join(GENEROUS_S)
    assert received == sent


def test_who_asks_not_to_wait_does_not(ends):
    timed, _ = ends
    with pytest.raises(BlockingIOError):
        timed.recv(1, socket.MSG_DONTWAIT)
