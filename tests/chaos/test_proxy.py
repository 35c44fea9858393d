"""The fault proxy: what goes through it untouched, and what each fault does to a request and its answer."""

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.chaos.act import Act, http_answer
from tests.chaos.proxy import FaultProxy, ProxyThread, http_relay, proxies, tcp_relay

ANSWER = b'{"taken": true}'
GENEROUS_S = 60.0


class Peer:
    """A server that counts what it was asked, and says yes."""

    def __init__(self) -> None:
        self.asked = 0
        peer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                peer.asked += 1
                self.send_response(201)
                self.send_header("Content-Length", str(len(ANSWER)))
                self.end_headers()
                self.wfile.write(ANSWER)

            def log_message(self, *args: object) -> None:
                """Say nothing: a test counts."""

        class Server(ThreadingHTTPServer):
            def handle_error(self, *args: object) -> None:
                """Connections that are cut are what this is about."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()


@pytest.fixture
def peer() -> Iterator[Peer]:
    found = Peer()
    yield found
    found.server.shutdown()
    found.server.server_close()
    found.thread.join(5)


@pytest.fixture
def thread() -> Iterator[ProxyThread]:
    with proxies() as running:
        yield running


@pytest.fixture
def proxy(thread: ProxyThread, peer: Peer) -> FaultProxy:
    return thread.proxy(http_relay, [("127.0.0.1", peer.server.server_port)])


def post(proxy: FaultProxy, connection: http.client.HTTPConnection | None = None) -> tuple[int, bytes]:
    given = connection or http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=GENEROUS_S)
    try:
        given.request("POST", "/", b"{}")
        answer = given.getresponse()
        return answer.status, answer.read()
    finally:
        if connection is None:
            given.close()


def test_without_a_fault_requests_of_one_connection_go_through(proxy: FaultProxy, peer: Peer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=GENEROUS_S)
    assert [post(proxy, connection) for _ in range(3)] == [(201, ANSWER)] * 3
    connection.close()
    assert (peer.asked, proxy.met) == (3, 0)


def test_a_refused_connection_is_refused_by_the_kernel_and_taken_again_on_the_same_port(proxy: FaultProxy) -> None:
    proxy.refuse()
    with pytest.raises(ConnectionRefusedError):
        post(proxy)
    proxy.accept()
    assert post(proxy) == (201, ANSWER)


@pytest.mark.parametrize("hard", [True, False])
def test_an_answer_that_is_lost_was_asked_for(proxy: FaultProxy, peer: Peer, hard: bool) -> None:
    proxy.act = lambda: Act(answer="lost", hard=hard)
    with pytest.raises((ConnectionResetError, http.client.RemoteDisconnected)):
        post(proxy)
    assert (peer.asked, proxy.met) == (1, 1)


def test_an_answer_is_cut_in_its_middle(proxy: FaultProxy, peer: Peer) -> None:
    proxy.act = lambda: Act(answer="half", hard=False, part=0.95)
    with pytest.raises(http.client.IncompleteRead):
        post(proxy)
    assert peer.asked == 1


def test_an_answer_that_is_trickled_comes_whole(proxy: FaultProxy) -> None:
    proxy.act = lambda: Act(answer="trickled", gap_s=0.0001)
    assert post(proxy) == (201, ANSWER)


def test_an_answer_is_late_by_no_less_than_the_fault_says(proxy: FaultProxy) -> None:
    proxy.act = lambda: Act(wait_s=0.1, late_s=0.1)
    began = time.monotonic()
    assert post(proxy) == (201, ANSWER)
    assert time.monotonic() - began >= 0.2


def test_another_answer_is_given_whether_the_server_was_asked_or_not(proxy: FaultProxy, peer: Peer) -> None:
    proxy.act = lambda: Act(instead=http_answer(503, Retry_After="1"), passes_on=False)
    assert post(proxy)[0] == 503
    assert peer.asked == 0
    proxy.act = lambda: Act(instead=http_answer(500))
    assert post(proxy)[0] == 500
    assert peer.asked == 1


def test_a_server_that_is_not_there_is_a_connection_that_ends(thread: ProxyThread, peer: Peer) -> None:
    proxy = thread.proxy(http_relay, [("127.0.0.1", 9)])
    with pytest.raises((ConnectionResetError, http.client.RemoteDisconnected)):
        post(proxy)


def test_targets_take_turns(thread: ProxyThread, peer: Peer) -> None:
    other = Peer()
    ports = [("127.0.0.1", each.server.server_port) for each in (peer, other)]
    proxy = thread.proxy(http_relay, [*ports])
    assert [post(proxy)[0] for _ in range(4)] == [201] * 4
    assert (peer.asked, other.asked) == (2, 2)
    other.server.shutdown()
    other.server.server_close()


def test_any_protocol_goes_through_and_is_cut_or_silenced_by_the_piece(thread: ProxyThread) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        proxy = thread.proxy(tcp_relay, [("127.0.0.1", listening.getsockname()[1])])

        def said(act: Act | None) -> bytes:
            proxy.act = None if act is None else lambda: act
            # What never comes is not waited for long; what comes may take its time.
            timeout_s = 0.3 if act is not None and act.answer == "swallowed" else GENEROUS_S
            with socket.create_connection(("127.0.0.1", proxy.port), timeout=timeout_s) as caller:
                called, _ = listening.accept()
                with called:
                    caller.sendall(b"question")
                    assert called.recv(100) == b"question"
                    called.sendall(b"an answer")
                    return caller.recv(100)

        assert said(None) == b"an answer"
        assert said(Act(answer="lost", hard=False)) == b""
        assert said(Act(answer="half", hard=False)) == b"an a"
        with pytest.raises(ConnectionResetError):
            said(Act(answer="lost"))
        with pytest.raises(TimeoutError):
            said(Act(answer="swallowed", late_s=9))
