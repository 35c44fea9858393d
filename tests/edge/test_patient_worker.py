"""Clients that go, stay or do not read at the very moment that the loop looks at them: real sockets, step by step."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest
from gunicorn import util
from werkzeug.wrappers import Response

from agent.edge.host import type_protocol_errors
from agent.edge.patient_worker import LEAVING_S, MAX_UNSENT_BYTES
from tests.edge.stepped_worker import (
    ANSWER,
    BUFFER,
    GET,
    LAST_GET,
    Server,
    connection,
    is_closed,
    no_more_files,
    reset,
    served,
)


@pytest.fixture
def server() -> Iterator[Server]:
    with served(1000) as made:
        yield made


def test_a_client_is_left_when_it_has_closed_or_reset_and_not_while_it_is_silent(server: Server) -> None:
    server.listener.setblocking(True)
    silent, closed, gone = server.client(), server.client(), server.client()
    ours = [connection(server, each) for each in (silent, closed, gone)]
    closed.close()
    reset(gone)
    assert [conn.is_left() for conn in ours] == [False, True, True]
    for conn in ours:
        conn.close()


def test_without_a_file_for_a_new_client_the_one_that_was_idle_longest_gives_way(server: Server) -> None:
    first, second = server.pending(b"GET /"), server.pending(b"GET /")
    newest = server.client(GET)
    with no_more_files():
        server.worker.accept(server.listener)
    assert is_closed(first)
    assert len(server.worker.pending_conns) == server.worker.nr_conns == 1
    server.worker.step_until(lambda: bool(server.worker.unsent_conns))
    assert newest.recv(15) == b"HTTP/1.1 200 OK"
    second.setblocking(False)
    with pytest.raises(BlockingIOError):
        second.recv(1)


def test_without_a_file_and_without_anybody_who_is_idle_nothing_happens(server: Server) -> None:
    with no_more_files():
        server.worker.accept(server.listener)
    assert server.worker.nr_conns == 0


def test_where_nobody_came_nobody_is_taken(server: Server) -> None:
    server.worker.accept(server.listener)
    assert server.worker.nr_conns == 0


def test_a_listener_that_is_none_any_more_is_no_matter_of_a_client(server: Server) -> None:
    closed = socket.create_server(("127.0.0.1", 0))
    closed.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        server.worker.accept(closed)


def test_who_resets_before_its_head_is_there_is_let_go_of(server: Server) -> None:
    client = server.pending(b"GET /")
    reset(client)
    server.worker.step_until(lambda: not server.worker.pending_conns)
    assert server.worker.nr_conns == 0


def test_a_head_that_comes_in_pieces_is_waited_for(server: Server) -> None:
    client = server.pending(GET[:5])
    for piece in (GET[5:10], GET[10:]):
        assert server.worker.pending_conns
        client.sendall(piece)
        server.worker.step()
    server.worker.step_until(lambda: bool(server.worker.unsent_conns))
    assert client.recv(15) == b"HTTP/1.1 200 OK"


def test_a_small_body_that_comes_in_pieces_is_waited_for_too(server: Server) -> None:
    client = server.pending(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n")
    for piece in (b"one", b"two", b"six"):
        assert server.worker.pending_conns
        client.sendall(piece)
        server.worker.step()
    server.worker.step_until(lambda: bool(server.worker.unsent_conns))
    assert client.recv(15) == b"HTTP/1.1 200 OK"


def test_who_sends_no_more_before_its_head_is_there_is_closed_on(server: Server) -> None:
    client = server.pending(b"GET /")
    client.shutdown(socket.SHUT_WR)
    server.worker.step_until(lambda: not server.worker.pending_conns)
    assert server.worker.nr_conns == 0
    assert is_closed(client)


def test_who_sends_no_more_behind_its_head_is_answered(server: Server) -> None:
    client = server.pending(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf")
    client.shutdown(socket.SHUT_WR)
    server.worker.step_until(lambda: bool(server.worker.unsent_conns))
    assert client.recv(15) == b"HTTP/1.1 200 OK"


def test_a_head_that_has_no_end_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    # What a host puts there, for this test alone.
    monkeypatch.setattr(util, "write_error", util.write_error)
    type_protocol_errors(lambda status: Response(status=status))
    client = server.client(b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000)
    server.worker.step_until(lambda: bool(server.worker.leaving_conns))
    assert client.recv(12) == b"HTTP/1.1 431"


def test_when_the_time_of_those_that_are_waited_for_is_over_each_goes_its_way(server: Server) -> None:
    worker = server.worker
    headless, bodiless = (
        server.pending(b"GET /"),
        server.pending(GET.replace(b"\r\n\r\n", b"\r\nContent-Length: 9\r\n\r\n")),
    )
    unread = server.waiting()
    worker.murder_pending()
    assert (len(worker.pending_conns), len(worker.unsent_conns)) == (2, 1)
    for conn in (*worker.pending_conns, *worker.unsent_conns):
        conn.timeout = 0.0
    worker.murder_pending()
    assert is_closed(headless)
    assert is_closed(unread)
    # What has a head is answered: the application says what it misses.
    worker.step_until(lambda: bool(worker.unsent_conns))
    assert bodiless.recv(15) == b"HTTP/1.1 200 OK"


def test_a_server_that_ends_waits_for_nobody_new_for_long(server: Server) -> None:
    server.pending(b"GET /")
    (conn,) = server.worker.pending_conns
    server.worker.alive = False
    server.worker.murder_pending()
    assert conn.timeout <= time.monotonic() + LEAVING_S


def test_who_says_something_in_the_moment_that_it_gives_way_is_closed_on() -> None:
    with served(2) as server:
        idle = server.pending(b"GET /")
        newest = server.client()
        # Both are ready in one look of the loop: first the new one, for which the other gives way.
        idle.sendall(b" HTTP")
        server.worker.step_until(lambda: server.worker.pending_conns[0].client == newest.getsockname())
        assert is_closed(idle)
        assert server.worker.nr_conns == 1


def test_who_asks_again_on_a_connection_that_is_kept_is_answered_on_it(server: Server) -> None:
    client = server.waiting()
    for _ in range(2):
        taken = 0
        while not server.worker.keepalived_conns:
            taken += len(client.recv(1 << 20))
            server.worker.step()
        while taken < len(ANSWER):
            taken += len(client.recv(1 << 20))
        client.sendall(GET)
        server.worker.step_until(lambda: bool(server.worker.unsent_conns))
    assert server.worker.nr_conns == 1


def test_who_asks_again_in_the_moment_that_it_gives_way_is_closed_on() -> None:
    with served(2) as server:
        kept = server.waiting()
        taken = 0
        while taken < len(ANSWER):
            server.worker.step()
            taken += len(kept.recv(1 << 20))
        server.worker.step_until(lambda: bool(server.worker.keepalived_conns))
        newest = server.client()
        kept.sendall(GET)
        server.worker.step_until(lambda: bool(server.worker.pending_conns))
        assert server.worker.pending_conns[0].client == newest.getsockname()
        assert is_closed(kept)


def test_who_reads_on_in_the_moment_that_it_gives_way_is_closed_on() -> None:
    with served(2) as server:
        reading = server.waiting()
        newest = server.client()
        while server.worker.unsent_conns:
            reading.recv(1 << 20)
            server.worker.step()
        assert server.worker.pending_conns[0].client == newest.getsockname()
        assert is_closed(reading)


def test_who_reads_slowly_has_its_whole_answer_and_that_to_what_it_asked_in_the_same_breath(server: Server) -> None:
    client = server.waiting(GET + LAST_GET)
    taken = bytearray()
    while not server.worker.leaving_conns:
        taken += client.recv(BUFFER)
        server.worker.step()
    while piece := client.recv(1 << 20):
        taken += piece
    assert taken.count(b"HTTP/1.1 200 OK") == 2
    assert taken.count(b"x") == 2 * len(ANSWER)
    client.close()
    server.worker.step_until(lambda: not server.worker.leaving_conns)
    assert server.worker.nr_conns == 0


def test_who_resets_while_its_answer_waits_is_let_go_of(server: Server) -> None:
    client = server.waiting()
    reset(client)
    server.worker.step_until(lambda: not server.worker.unsent_conns)
    assert server.worker.nr_conns == 0


def test_of_more_waiting_answers_than_are_kept_the_oldest_gives_way(server: Server) -> None:
    first = server.waiting()
    while server.worker.unsent_conns[0].client == first.getsockname():
        server.waiting()
    assert is_closed(first)
    assert len(server.worker.unsent_conns) >= MAX_UNSENT_BYTES // len(ANSWER)
    assert sum(len(each.sock.unsent) for each in server.worker.unsent_conns) <= MAX_UNSENT_BYTES


def test_who_goes_on_talking_while_it_is_closed_on_is_read_off_and_gives_way_first() -> None:
    with served(2) as server:
        leaving = server.waiting(LAST_GET)
        while not server.worker.leaving_conns:
            leaving.recv(1 << 20)
            server.worker.step()
        leaving.sendall(b"more")
        # Read off, and then nothing is there: the next look sees the new client first.
        server.worker.step()
        server.worker.step()
        assert server.worker.leaving_conns
        newest = server.client()
        leaving.sendall(b"still more")
        server.worker.step_until(lambda: bool(server.worker.pending_conns))
        server.worker.step()
        assert not server.worker.leaving_conns
        assert server.worker.pending_conns[0].client == newest.getsockname()
        assert is_closed(leaving)
