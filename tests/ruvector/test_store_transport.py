"""The keep-alive transport against real sockets: framing, reuse, staleness, deadlines."""

import socket
import time
from contextlib import ExitStack, closing

import pytest

from agent.ruvector.connection import _connect_first
from agent.ruvector.exchange import (
    AnswerTimedOut,
    BodyRefused,
    ConnectionBroke,
    ConnectTimedOut,
    ExchangeError,
    NotHttp,
    SendTimedOut,
)
from agent.ruvector.transport import KeepAliveTransport
from tests.ruvector.asking import get
from tests.ruvector.peer import (
    Peer,
    answer,
    close_without_answer,
    closed_port,
    echo,
    raw,
    reset,
    response_bytes,
    silence,
)


def error_of(transport: KeepAliveTransport, url: str, **asked: float) -> type[ExchangeError]:
    with pytest.raises(ExchangeError) as caught:
        get(transport, url, **asked)
    return type(caught.value)


BODIES = {
    "length": (response_bytes(200, b"hello"), True),
    "no body": (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", True),
    "no reason phrase": (b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", True),
    "chunked": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n", True),
    "trailers": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n", True),
    "interim": (
        b"HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + response_bytes(200, b"hello"),
        True,
    ),
    "close-delimited": (b"HTTP/1.1 200 OK\r\n\r\nhello", False),
    "close-delimited, another coding": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nhello", False),
    "connection close": (response_bytes(200, b"hello", Connection="close"), False),
    "HTTP/1.0": (b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", False),
    "stray bytes": (response_bytes(200, b"hello") + b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", False),
    "stray garbage": (response_bytes(200, b"hello") + b"\x00\x01", False),
    "stray after close": (response_bytes(200, b"hello", Connection="close") + b"more", False),
    "204": (b"HTTP/1.1 204 No Content\r\n\r\n", True),
    "304 with a length": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", True),
}


@pytest.mark.parametrize(
    ("bytes_sent", "reusable", "split"),
    [
        pytest.param(*case, split, id=f"{name}, {'byte by byte' if split else 'at once'}")
        for name, case in BODIES.items()
        for split in (False, True)
        if not (split and "stray" in name)  # bytes that come after the answer was taken are another test's
    ],
)
def test_every_framing_is_read_and_only_a_clean_connection_is_used_again(transport, bytes_sent, reusable, split):
    pieces = [bytes_sent[place : place + 1] for place in range(len(bytes_sent))] if split else [bytes_sent]
    # A peer that keeps the connection open, unless the body ends with it.
    keep = b"Content-Length" in bytes_sent or reusable
    status, body = (int(bytes_sent[9:12]), b"") if b"llo" not in bytes_sent else (200, b"hello")
    with Peer(raw(*pieces, keep=keep), echo) as peer:
        first = get(transport, peer.url)
        assert (first.status, first.body) == (status, body)
        assert get(transport, f"{peer.url}/second").body == b"/second"
        assert peer.connections == (1 if reusable else 2)


def test_interim_headers_and_trailers_are_not_headers(transport):
    body = b"Transfer-Encoding: chunked\r\nX-Own: 1\r\n\r\n2\r\nhi\r\n0\r\nX-Trailer: 1\r\n\r\n"
    with Peer(raw(b"HTTP/1.1 103 Early\r\nX-Early: 1\r\n\r\nHTTP/1.1 200 OK\r\n" + body)) as peer:
        assert [name for name, _ in get(transport, peer.url).fields] == [b"Transfer-Encoding", b"X-Own"]


def test_a_head_response_has_no_body_whatever_its_length_says(transport):
    with Peer(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", keep=True), echo) as peer:
        response = get(transport, peer.url, "HEAD")
        assert (response.body, response.field(b"content-length")) == (b"", "5")
        assert get(transport, f"{peer.url}/next").body == b"/next"


def test_a_head_response_that_has_a_body_all_the_same_does_not_spoil_the_next(transport):
    with Peer(answer(200, b"hello"), echo) as peer:
        assert get(transport, peer.url, "HEAD").body == b""
        assert get(transport, f"{peer.url}/next").body == b"/next"


def test_a_body_up_to_the_bound_is_read_and_one_byte_more_is_refused_with_its_status(transport):
    with Peer(answer(200, b"x" * 1000), answer(207, b"x" * 1001, X_Own="1")) as peer:
        assert len(get(transport, peer.url, max_body=1000).body) == 1000
        with pytest.raises(BodyRefused) as caught:
            get(transport, peer.url, max_body=1000)
    assert caught.value.status == 207
    assert (b"X-Own", b"1") in caught.value.fields


def test_a_long_body_arrives_whole(transport):
    body = bytes(range(256)) * 20_000
    with Peer(lambda exchange: answer(200, exchange.request.body)(exchange)) as peer:
        assert get(transport, peer.url, "POST", body=body, deadline=time.monotonic() + 20).body == body


def test_an_interrupted_exchange_gives_its_connection_up():
    class Interrupt(BaseException):
        pass

    def interrupting_clock() -> float:
        if peer.received:
            raise Interrupt
        return time.monotonic()

    half = response_bytes(200, b"hello")[:-1]
    peer = Peer(lambda exchange: raw(half)(exchange) or silence()(exchange))
    with peer, closing(KeepAliveTransport(clock=interrupting_clock)) as transport:
        with pytest.raises(Interrupt):
            get(transport, peer.url)
        peer.wait_until_closed(0)


@pytest.mark.parametrize(
    # The deadline is waited for by who is never answered alone, and must leave time to connect and to send.
    ("step", "error", "deadline_s"),
    [(silence(), AnswerTimedOut, 2.0), (close_without_answer(), NotHttp, 60.0), (reset(), ConnectionBroke, 60.0)],
    ids=["silence", "closed", "reset"],
)
def test_a_lost_answer_has_its_own_error(transport, step, error, deadline_s):
    with Peer(step) as peer, pytest.raises(error) as caught:
        get(transport, peer.url, deadline=time.monotonic() + deadline_s)
    assert type(caught.value) is error


def test_a_connection_cannot_take_longer_than_its_deadline(transport):
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, socket.socket() as filler:
        # A full queue of connections that nobody accepts swallows what comes next.
        filler.connect(listener.getsockname())
        started = time.monotonic()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        errors = [error_of(transport, url, connect_deadline=started + 0.2, deadline=started + 0.3) for _ in range(3)]
        assert ConnectTimedOut in errors
        assert time.monotonic() - started < 2


def test_a_deadline_that_has_passed_connects_to_nobody(transport):
    with Peer(echo) as peer:
        with pytest.raises(ConnectTimedOut):
            get(transport, peer.url, deadline=time.monotonic() - 1)
        assert peer.received == []


def test_a_deadline_that_passed_while_the_connection_was_idle_sends_nothing(transport):
    with Peer(echo) as peer:
        get(transport, peer.url)
        with pytest.raises(SendTimedOut):
            get(transport, peer.url, deadline=time.monotonic() - 1)
        assert len(peer.received) == 1


def test_the_next_address_is_tried_when_one_refuses():
    with Peer(echo) as peer:
        addresses = [
            (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port)) for port in (closed_port(), peer.port)
        ]
        with _connect_first(addresses, time.monotonic() + 5, time.monotonic) as connected:
            assert connected.getpeername() == ("127.0.0.1", peer.port)


def test_an_ipv6_literal_is_connected_to(transport):
    with ExitStack() as stack:
        try:
            peer = stack.enter_context(Peer(echo, host="::1"))
        except OSError:
            pytest.skip("this machine has no IPv6 loopback")
        assert get(transport, f"{peer.url}/six").body == b"/six"
        assert peer.received[0].headers["host"] == f"[::1]:{peer.port}"
