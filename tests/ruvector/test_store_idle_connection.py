"""What an idle connection tells of itself: the same where the kernel counts its bytes (TCP) and where it does not."""

import socket
import time
from collections.abc import Iterator

import pytest

from agent.ruvector.connection import Connection
from tests.ruvector.peer import response_bytes


def over_tcp() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    return near, far


@pytest.fixture(params=[over_tcp, socket.socketpair], ids=["TCP", "a local socket"])
def ends(request) -> Iterator[tuple[Connection, socket.socket]]:
    near, far = request.param()
    connection = Connection(near, time.monotonic)
    yield connection, far
    connection.close()
    far.close()


def exchange(connection: Connection, far: socket.socket, *pieces: bytes) -> bool:
    for piece in pieces:
        far.sendall(piece)
    deadline = time.monotonic() + 10
    return connection.exchange(b"GET / HTTP/1.1\r\n\r\n", b"", deadline=deadline, head_only=False, max_body=1000)


def stale_in_time(connection: Connection) -> bool:
    """Whether it is stale at last: what the other end did may take a moment to arrive."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if connection.is_stale():
            return True
        time.sleep(0.001)
    return False


def test_a_connection_is_fit_before_and_after_each_exchange(ends):
    connection, far = ends
    assert not connection.is_stale()
    for answer in (
        [response_bytes(200, b"hello")],
        [b"HTTP/1.1 100 Continue\r\n\r\n", response_bytes(200, b"x" * 900)],
    ):
        assert exchange(connection, far, *answer)
        assert not connection.is_stale()


@pytest.mark.parametrize("exchanges", [0, 1, 2])
@pytest.mark.parametrize("stray", [b"x", response_bytes(200, b"hello")])
def test_bytes_of_no_request_make_it_unfit(ends, exchanges, stray):
    connection, far = ends
    for _ in range(exchanges):
        assert exchange(connection, far, response_bytes(200, b"hello"))
    far.sendall(stray)
    assert stale_in_time(connection)


@pytest.mark.parametrize("exchanges", [0, 1])
@pytest.mark.parametrize("ends_it", [lambda far: far.close(), lambda far: far.shutdown(socket.SHUT_WR)])
def test_what_the_peer_closed_is_unfit(ends, exchanges, ends_it):
    connection, far = ends
    for _ in range(exchanges):
        assert exchange(connection, far, response_bytes(200, b"hello"))
    ends_it(far)
    assert stale_in_time(connection)


@pytest.mark.skipif(not hasattr(socket, "TCP_INFO"), reason="only Linux tells what a connection received")
def test_a_plain_connection_is_known_to_be_fit_without_a_look_at_the_wire():
    near, far = over_tcp()
    connection = Connection(near, time.monotonic)
    assert connection._is_known_fresh()
    assert exchange(connection, far, response_bytes(200, b"hello"))
    # gVisor has the option and counts nothing: then the wire is looked at.
    if near.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 136)[128:] == bytes(8):
        pytest.skip("this kernel does not count what a connection received")
    assert connection._is_known_fresh()
    far.sendall(b"x")
    assert stale_in_time(connection)
    assert not connection._is_known_fresh()
    connection.close()
    far.close()
