"""Every row of CONTRACT 7, "Towards the store", against a socket peer that misbehaves that way (cases H09-H13)."""

import socket
import time
from contextlib import ExitStack

import pytest

from agent.errors import RateLimitExceeded, StoreConnectionError, StoreError, StoreWriteError
from agent.ruvector.retry import MAX_ATTEMPTS
from tests.ruvector.asking import assert_each_attempt_was_the_same, failure
from tests.ruvector.fakes import API_KEY, BODY, KEY
from tests.ruvector.lost_answers import LOST_ANSWERS
from tests.ruvector.peer import (
    ACCEPTED,
    Peer,
    acknowledge,
    answer,
    close_without_answer,
    closed_port,
    drip,
    raw,
    response_bytes,
    silence,
)

SILENT = {
    "no answer": silence(),
    "a trickled head": drip(b"", b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n" + b"X: y\r\n" * 99),
    "a trickled body": drip(b"HTTP/1.1 201 Created\r\nContent-Length: 900\r\n\r\n", b"x" * 900),
    "trickled chunks": drip(b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 200),
    "trickled interim responses": drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50),
    "a trickled close-delimited body": drip(b"HTTP/1.1 201 Created\r\n\r\n", b"x" * 900),
}
NO_ACKNOWLEDGEMENT = {
    "200 with HTML": (200, b"<html>welcome</html>"),
    "200 without a status": (200, b'{"eventId": "e-1"}'),
    "200 with another status": (200, b'{"status": "queued", "eventId": "e-1"}'),
    "200 with a status that is no string": (200, b'{"status": ["accepted"]}'),
    "200 with an array": (200, b'["accepted"]'),
    "200 and nothing": (200, b""),
    "201 with an array": (201, b'[{"eventId": "e-1"}]'),
    "201 with text": (201, b'"e-1"'),
    "201 with half an object": (201, b'{"eventId": "e-1"'),
    "201 with two objects": (201, b"{}{}"),
    "201 that is not UTF-8": (201, b'{"eventId": "\xff"}'),
    "201 with NaN": (201, b'{"position": NaN}'),
    "201 and nothing": (201, b""),
    "202": (202, ACCEPTED),
    "204": (204, b""),
    "206": (206, ACCEPTED),
    **{str(status): (status, ACCEPTED) for status in (300, 301, 302, 303, 307, 308)},
    **{str(status): (status, ACCEPTED) for status in (400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 418, 422, 425)},
    **{str(status): (status, ACCEPTED) for status in (500, 501, 505, 507, 520, 599)},
}


def test_a_refused_connection_is_retried_and_ends_as_a_connection_error(client_of, waits):
    error = failure(client_of(f"http://127.0.0.1:{closed_port()}"), StoreConnectionError)
    assert error.details == {"attempts": MAX_ATTEMPTS}
    assert error.status == 502
    assert waits.asked == [0.25, 0.5, 1.0]  # half of 0.5, 1 and 2 s: full jitter, with 0.5 for chance


def test_a_name_that_does_not_resolve_is_a_connection_error(client_of):
    # Resolution has no bound of ours: where the resolver is slow, one attempt is all that fits.
    error = failure(client_of("http://store.invalid", deadline_s=1.0, random=lambda: 0.0), StoreConnectionError)
    assert 1 <= error.details["attempts"] <= MAX_ATTEMPTS


def test_a_name_that_cannot_be_one_is_a_connection_error(client_of):
    assert failure(client_of(f"http://{'a' * 64}.invalid"), StoreConnectionError).details == {"attempts": MAX_ATTEMPTS}


def test_a_refused_connection_is_retried_until_the_store_is_there(client_of, waits):
    with ExitStack() as stack:
        peer = Peer(acknowledge(), port=closed_port())
        # The store comes up while the client waits before its second attempt.
        waits.sleep = lambda seconds: stack.enter_context(peer)
        client = client_of(f"http://127.0.0.1:{peer.port}")
        assert client.append(BODY, idempotency_key=KEY).event_id == "e-1"
        assert len(peer.received) == 1


@pytest.mark.parametrize("step", LOST_ANSWERS.values(), ids=LOST_ANSWERS)
def test_a_lost_answer_is_retried_with_the_same_key_and_body(client_of, step):
    with Peer(step, acknowledge()) as peer:
        assert client_of(peer.url).append(BODY, idempotency_key=KEY).event_id == "e-1"
        assert len(peer.received) == 2
        assert_each_attempt_was_the_same(peer)


@pytest.mark.parametrize("step", LOST_ANSWERS.values(), ids=LOST_ANSWERS)
def test_answers_lost_for_ever_end_as_a_connection_error(client_of, step):
    with Peer(step) as peer:
        error = failure(client_of(peer.url), StoreConnectionError)
        assert error.details == {"attempts": MAX_ATTEMPTS}
        assert len(peer.received) == MAX_ATTEMPTS
        assert_each_attempt_was_the_same(peer)


@pytest.mark.parametrize("step", SILENT.values(), ids=SILENT)
def test_a_silent_or_trickling_peer_cannot_outlive_the_deadline(client_of, step):
    with Peer(step) as peer:
        started = time.monotonic()
        error = failure(client_of(peer.url, deadline_s=2.0, random=lambda: 0.0), StoreConnectionError)
        elapsed = time.monotonic() - started
        # Four, unless a busy machine overslept what was left.
        assert 2 <= error.details["attempts"] <= MAX_ATTEMPTS
        assert len(peer.received) <= MAX_ATTEMPTS
        assert 1.75 < elapsed < 10.0
        assert_each_attempt_was_the_same(peer)


@pytest.mark.parametrize("name", ["no answer", "a trickled head", "a trickled body"])
def test_a_silent_peer_leaves_time_for_an_attempt_that_succeeds(client_of, name):
    with Peer(SILENT[name], acknowledge()) as peer:
        client = client_of(peer.url, deadline_s=2.0, random=lambda: 0.0)
        assert client.append(BODY, idempotency_key=KEY).event_id == "e-1"
        assert len(peer.received) == 2


def test_a_peer_that_does_not_read_cannot_outlive_the_deadline(client_of):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = client_of(f"http://127.0.0.1:{listener.getsockname()[1]}", deadline_s=0.4, random=lambda: 0.0)
        started = time.monotonic()
        with pytest.raises(StoreConnectionError):
            client.append(b"x" * 30_000_000, idempotency_key=KEY)
        assert time.monotonic() - started < 2.5


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_gateway_status_is_retried(client_of, status):
    with Peer(answer(status, b"<html>bad gateway</html>"), acknowledge()) as peer:
        assert client_of(peer.url).append(BODY, idempotency_key=KEY).event_id == "e-1"
        assert len(peer.received) == 2
        assert_each_attempt_was_the_same(peer)


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_gateway_status_for_ever_is_a_connection_error_with_the_status(client_of, waits, status):
    with Peer(answer(status)) as peer:
        error = failure(client_of(peer.url), StoreConnectionError)
        assert error.details == {"attempts": MAX_ATTEMPTS, "upstream_status": status}
        assert error.headers == {}
        assert len(peer.received) == MAX_ATTEMPTS
        assert waits.asked == [0.25, 0.5, 1.0]


@pytest.mark.parametrize(("status", "body"), NO_ACKNOWLEDGEMENT.values(), ids=NO_ACKNOWLEDGEMENT)
def test_an_answer_that_is_no_acknowledgement_is_a_write_error_after_one_attempt(client_of, waits, status, body):
    step = raw(b"HTTP/1.1 204 No\r\n\r\n", keep=True) if status == 204 else answer(status, body, Location="/elsewhere")
    with Peer(step) as peer:
        error = failure(client_of(peer.url), StoreWriteError)
        assert error.upstream_status == status
        assert error.details == {"upstream_status": status, "attempts": 1}
        assert error.status == 502
        assert len(peer.received) == 1
        assert waits.asked == []


@pytest.mark.parametrize("status", [201, 422])
def test_an_answer_longer_than_an_acknowledgement_can_be_is_a_write_error(client_of, status):
    with Peer(raw(response_bytes(status, b'{"eventId":"e-1"}' + b" " * 1_100_000), keep=True)) as peer:
        assert failure(client_of(peer.url), StoreWriteError).details == {"upstream_status": status, "attempts": 1}
        assert len(peer.received) == 1


def test_a_503_with_a_body_too_long_is_retried_as_a_503(client_of, waits):
    with Peer(raw(response_bytes(503, b"x" * 2_000_000, Retry_After="2")), acknowledge()) as peer:
        assert client_of(peer.url).append(BODY, idempotency_key=KEY).event_id == "e-1"
        assert waits.asked == [2.0]


def test_a_write_error_after_retries_says_how_many_attempts_were_made(client_of):
    with Peer(answer(503), close_without_answer(), answer(401)) as peer:
        assert failure(client_of(peer.url), StoreWriteError).details == {"upstream_status": 401, "attempts": 3}
        assert len(peer.received) == 3


@pytest.mark.parametrize(("given", "passed_on"), [({}, "1"), ({"Retry_After": "2"}, "2")], ids=["absent", "given"])
def test_a_rate_limit_for_ever_is_ours_with_a_retry_after(client_of, waits, given, passed_on):
    with Peer(answer(429, **given)) as peer:
        error = failure(client_of(peer.url), RateLimitExceeded)
        assert error.status == 429
        assert error.headers == {"Retry-After": passed_on}
        assert error.details == {"attempts": MAX_ATTEMPTS, "upstream_status": 429}
        assert len(peer.received) == MAX_ATTEMPTS


def test_a_wait_that_does_not_fit_is_not_started(client_of, waits):
    with Peer(answer(502)) as peer:
        error = failure(client_of(peer.url, deadline_s=1.0), StoreConnectionError)
        # 0.25 and 0.5 fit into one second, one more second does not.
        assert waits.asked == [0.25, 0.5]
        assert error.details == {"attempts": 3, "upstream_status": 502}
        assert len(peer.received) == 3


EVERY_FAILURE = {
    "closed port": None,
    "lost": close_without_answer(),
    "refused": answer(401, b"wrong key " + API_KEY.encode()),
    "html": answer(200, b"<html>body-text</html>"),
    "rate": answer(429, b"body-text"),
    "unavailable": answer(503, b"body-text", Retry_After="600"),
}


@pytest.mark.parametrize("step", EVERY_FAILURE.values(), ids=EVERY_FAILURE)
def test_no_error_holds_the_key_the_body_the_url_or_the_stores_text(client_of, step):
    with Peer(step or close_without_answer()) as peer:
        url = peer.url if step else f"http://127.0.0.1:{closed_port()}"
        with pytest.raises((StoreError, RateLimitExceeded)) as caught:
            client_of(url).append(BODY, idempotency_key=KEY)
    chain: list[BaseException] = []
    error: BaseException | None = caught.value
    while error is not None:
        chain.append(error)
        error = error.__cause__
    told = " ".join(f"{error!r} {error}" for error in chain) + repr(caught.value.details) + repr(caught.value.headers)
    assert set(caught.value.details) <= {"attempts", "upstream_status"}
    for secret in (API_KEY, KEY, "body-text", "127.0.0.1", "http://", "wrong key"):
        assert secret not in told
