"""``RUVECTOR_WRITES=at-most-once``: only a failed connect, 503 and 429 are repeated (CONTRACT 7)."""

import pytest

from agent.errors import StoreConnectionError
from agent.ruvector.retry import MAX_ATTEMPTS
from tests.ruvector.asking import failure
from tests.ruvector.fakes import BODY, KEY
from tests.ruvector.lost_answers import LOST_ANSWERS
from tests.ruvector.peer import Peer, acknowledge, answer, close_without_answer, closed_port, drip, raw, response_bytes


@pytest.mark.parametrize("status", [429, 503])
def test_at_most_once_repeats_what_the_store_refused(client_of, status):
    with Peer(answer(status), acknowledge()) as peer:
        client_of(peer.url, at_most_once=True).append(BODY, idempotency_key=KEY)
        assert len(peer.received) == 2


def test_at_most_once_repeats_a_failed_connect(client_of):
    error = failure(client_of(f"http://127.0.0.1:{closed_port()}", at_most_once=True), StoreConnectionError)
    assert error.details == {"attempts": MAX_ATTEMPTS}


@pytest.mark.parametrize("step", LOST_ANSWERS.values(), ids=LOST_ANSWERS)
def test_at_most_once_never_repeats_a_lost_answer(client_of, step):
    with Peer(step) as peer:
        error = failure(client_of(peer.url, at_most_once=True), StoreConnectionError)
        assert error.details == {"attempts": 1}
        assert len(peer.received) == 1


@pytest.mark.parametrize("status", [502, 504])
def test_at_most_once_never_repeats_what_a_gateway_answered(client_of, status):
    with Peer(answer(status)) as peer:
        error = failure(client_of(peer.url, at_most_once=True), StoreConnectionError)
        assert error.details == {"attempts": 1, "upstream_status": status}
        assert len(peer.received) == 1


def test_at_most_once_never_repeats_a_lost_answer_after_a_refusal(client_of):
    with Peer(answer(503), close_without_answer()) as peer:
        assert failure(client_of(peer.url, at_most_once=True), StoreConnectionError).details == {"attempts": 2}
        assert len(peer.received) == 2


def test_at_most_once_waits_for_a_slow_answer_to_the_end_of_the_deadline(client_of):
    # Half of the deadline would be too short for it: 40 drips.
    whole = response_bytes(201, b"{}")
    slow = drip(b"", whole[:40])
    with Peer(lambda exchange: slow(exchange) or raw(whole[40:])(exchange)) as peer:
        client = client_of(peer.url, deadline_s=2.0, at_most_once=True)
        assert client.append(BODY, idempotency_key=KEY).duplicate is False
        assert len(peer.received) == 1
