"""Answers that come before the request is sent whole (RFC 9112 9.5): the retry table of CONTRACT 7 holds for them too.

The body is far longer than what the buffers of both sides take, so a peer that does not read it blocks the client.
"""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from agent.errors import RateLimitExceeded, StoreConnectionError, StoreWriteError
from agent.ruvector.exchange import AnswerTimedOut, SendTimedOut
from agent.ruvector.retry import MAX_ATTEMPTS
from tests.ruvector.asking import failure
from tests.ruvector.fakes import BODY, KEY
from tests.ruvector.peer import (
    ACCEPTED,
    Exchange,
    Peer,
    Step,
    acknowledge,
    after_the_body,
    answer,
    drip,
    hold,
    raw,
    response_bytes,
    silence,
)

LONG = b"x" * 9_500_000


def receipt_of_length(exchange: Exchange) -> bool:
    """Acknowledges with the length of the body in place of an event's id."""
    return answer(201, b'{"eventId":"%d"}' % len(exchange.request.body))(exchange)


def half_closed(said: bytes = b"") -> Step:
    """Says it, says that nothing more will come, and reads nothing."""

    def step(exchange: Exchange) -> bool:
        exchange.connection.sendall(said)
        exchange.connection.shutdown(socket.SHUT_WR)
        exchange.stop.wait()
        return False

    return step


@contextmanager
def greeter(said: bytes) -> Iterator[str]:
    """Says it to the first who connects, before it reads anything, and closes; yields its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(said)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join(10)


@pytest.fixture(params=["plain", "TLS"])
def tls(request) -> ssl.SSLContext | None:
    return None if request.param == "plain" else request.getfixturevalue("server")


@pytest.fixture
def client_of_both(client_of, trusting):
    """Makes clients that trust the certificate of the peers here."""
    return lambda url, **settings: client_of(url, transport=trusting, **settings)


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    """No test here waits for a deadline but the one that says so."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < 8


REFUSALS = [302, 400, 401, 403, 409, 413, 422, 500]


@pytest.mark.parametrize("at_most_once", [False, True])
@pytest.mark.parametrize("status", REFUSALS)
def test_a_refusal_by_a_peer_that_stops_reading_is_a_write_error_at_once(client_of, status, at_most_once):
    with Peer(hold(answer(status, b"no")), eager=True) as peer:
        error = failure(client_of(peer.url, at_most_once=at_most_once), StoreWriteError, LONG)
        assert error.details == {"upstream_status": status, "attempts": 1}
        assert len(peer.received) == 1


FRAMINGS = {
    "held": hold(answer(413, b"too long")),
    "closed": answer(413, b"too long", keep=False),
    "no body": hold(raw(b"HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n")),
    "chunked": hold(raw(b"HTTP/1.1 413 No\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n")),
    "Connection: close": hold(answer(413, b"too long", Connection="close")),
    "delimited by the close": raw(b"HTTP/1.1 413 No\r\n\r\ntoo long"),
    "longer than an answer may be": hold(answer(413, b"x" * 1_100_000)),
    "after interim responses": hold(raw(b"HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 103 Early\r\n\r\n", response_bytes(413))),
    "its last bytes later": drip(response_bytes(413, b"too long")[:-4], b"long"),
    "its head in pieces": drip(b"HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 413 No\r\nContent-Length: 0\r", b"\n\r\n"),
}


@pytest.mark.parametrize("step", FRAMINGS.values(), ids=FRAMINGS)
def test_an_early_answer_is_understood_however_it_is_framed(client_of_both, tls, step):
    with Peer(step, tls=tls, eager=True) as peer:
        error = failure(client_of_both(peer.url), StoreWriteError, LONG)
        assert error.details == {"upstream_status": 413, "attempts": 1}


def test_an_early_answer_that_ends_where_the_peer_stops_sending_is_understood(client_of):
    with Peer(half_closed(b"HTTP/1.1 413 No\r\n\r\ntoo long"), eager=True) as peer:
        assert failure(client_of(peer.url), StoreWriteError, LONG).upstream_status == 413


def test_an_early_acknowledgement_counts_and_its_connection_is_not_used_again(client_of_both, tls):
    with Peer(hold(acknowledge()), after_the_body(acknowledge()), tls=tls, eager=True) as peer:
        client = client_of_both(peer.url)
        assert client.append(LONG, idempotency_key=KEY).event_id == "e-1"
        assert client.append(BODY, idempotency_key=KEY).event_id == "e-1"
        assert [request.connection for request in peer.received] == [0, 1]


@pytest.mark.parametrize("at_most_once", [False, True])
@pytest.mark.parametrize("status", [429, 503])
def test_an_early_refusal_for_now_is_retried_after_what_it_asks(client_of, waits, status, at_most_once):
    script = hold(answer(status, Retry_After="2")), after_the_body(receipt_of_length)
    with Peer(*script, eager=True) as peer:
        client = client_of(peer.url, at_most_once=at_most_once)
        assert client.append(LONG, idempotency_key=KEY).event_id == str(len(LONG))
        assert waits.asked == [2.0]
        assert len(peer.received) == 2


@pytest.mark.parametrize(("status", "kind"), [(429, RateLimitExceeded), (503, StoreConnectionError)])
def test_an_early_retry_after_that_does_not_fit_is_passed_on(client_of, status, kind):
    with Peer(hold(answer(status, Retry_After="600")), eager=True) as peer:
        error = failure(client_of(peer.url), kind, LONG)
        assert error.headers == {"Retry-After": "600"}
        assert error.details == {"attempts": 1, "upstream_status": status}


@pytest.mark.parametrize(("at_most_once", "attempts"), [(False, MAX_ATTEMPTS), (True, 1)])
def test_an_early_gateway_status_is_retried_unless_at_most_once(client_of, at_most_once, attempts):
    with Peer(hold(answer(502)), eager=True) as peer:
        error = failure(client_of(peer.url, at_most_once=at_most_once), StoreConnectionError, LONG)
        assert error.details == {"attempts": attempts, "upstream_status": 502}


LOST_EARLY = {
    "closed without an answer": raw(),
    "closed in the middle of it": raw(b"HTTP/1.1 201 Created\r\nContent-Le"),
    "closed after an interim response": raw(b"HTTP/1.1 103 Early\r\n\r\n"),
    "no more to come": half_closed(),
    "no more to come in the middle of it": half_closed(b"HTTP/1.1 201 Created\r\nContent-Length: 90\r\n\r\n{"),
    "garbage": hold(raw(b"\x16\x03\x01 this is no HTTP at all\r\n\r\n")),
    "another protocol": hold(raw(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")),
    "endless interim responses": hold(raw(b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" * 10_000)),
}


@pytest.mark.parametrize("step", LOST_EARLY.values(), ids=LOST_EARLY)
def test_an_early_answer_that_is_lost_is_retried(client_of, step):
    with Peer(step, after_the_body(receipt_of_length), eager=True) as peer:
        assert client_of(peer.url).append(LONG, idempotency_key=KEY).event_id == str(len(LONG))
        assert len(peer.received) == 2


@pytest.mark.parametrize("step", LOST_EARLY.values(), ids=LOST_EARLY)
def test_an_early_answer_that_is_lost_is_never_repeated_at_most_once(client_of, step):
    with Peer(step, eager=True) as peer:
        error = failure(client_of(peer.url, at_most_once=True), StoreConnectionError, LONG)
        assert error.details == {"attempts": 1}
        assert len(peer.received) == 1


def test_a_peer_that_neither_reads_nor_answers_is_asked_once_at_most_once(client_of):
    with Peer(hold(raw()), eager=True) as peer:
        error = failure(client_of(peer.url, at_most_once=True, deadline_s=2.0), StoreConnectionError, LONG)
        assert error.details == {"attempts": 1}
        assert isinstance(error.__cause__, SendTimedOut)


INTERIM = [
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 102 Processing\r\n\r\n",
    b"HTTP/1.1 103 Early\r\nLink: a\r\n\r\n",
]


@pytest.mark.parametrize("interim", INTERIM, ids=["100", "102", "103"])
def test_an_interim_response_stops_nothing(client_of_both, tls, interim):
    def step(exchange: Exchange) -> bool:
        exchange.connection.sendall(interim)
        return after_the_body(receipt_of_length)(exchange)

    with Peer(step, tls=tls, eager=True) as peer:
        client = client_of_both(peer.url)
        for body in (LONG, BODY):
            assert client.append(body, idempotency_key=KEY).event_id == str(len(body))
        assert [request.connection for request in peer.received] == [0, 0]


def test_an_answer_that_has_only_begun_does_not_keep_the_rest_of_the_request_back(client_of_both, tls):
    """Some servers send their head as soon as they are called, and end the answer when they have read the request."""
    said = response_bytes(201, ACCEPTED)

    def step(exchange: Exchange) -> bool:
        exchange.connection.sendall(said[:-5])
        return after_the_body(raw(said[-5:], keep=True))(exchange)

    with Peer(step, tls=tls, eager=True) as peer:
        client = client_of_both(peer.url)
        for _ in range(2):
            assert client.append(LONG, idempotency_key=KEY).event_id == "e-1"
        assert peer.connections == 1


@pytest.mark.parametrize("body", [BODY, LONG], ids=["short", "long"])
@pytest.mark.parametrize("status", [401, 413])
def test_an_answer_that_was_there_before_the_request_is_still_an_answer(client_of, status, body):
    with greeter(response_bytes(status, b"no")) as url:
        assert failure(client_of(url), StoreWriteError, body).details == {"upstream_status": status, "attempts": 1}


def test_an_early_answer_on_a_connection_used_before_is_an_answer(client_of):
    with Peer(after_the_body(acknowledge()), hold(answer(413)), eager=True) as peer:
        client = client_of(peer.url)
        client.append(BODY, idempotency_key=KEY)
        assert failure(client, StoreWriteError, LONG).details == {"upstream_status": 413, "attempts": 1}
        assert [request.connection for request in peer.received] == [0, 0]


def test_a_silent_peer_that_read_the_whole_long_body_loses_its_answer_at_the_deadline(client_of):
    with Peer(silence()) as peer:
        # Long enough to send all of it on a machine that does much else.
        error = failure(client_of(peer.url, at_most_once=True, deadline_s=4.0), StoreConnectionError, LONG)
        assert isinstance(error.__cause__, AnswerTimedOut)
