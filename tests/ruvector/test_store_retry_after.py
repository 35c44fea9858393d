"""``Retry-After`` on 429 and 503, against a socket peer that sends each of its forms (CONTRACT 7, case H11)."""

import time
from datetime import timedelta
from email.utils import format_datetime

import pytest

from agent.errors import RateLimitExceeded, StoreConnectionError
from tests.ruvector.asking import assert_each_attempt_was_the_same, failure
from tests.ruvector.fakes import BODY, KEY, NOW
from tests.ruvector.peer import Peer, acknowledge, answer


def http_date(seconds: int) -> str:
    return format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)


RETRY_AFTER_THAT_FITS = {
    "seconds": ("2", 2.0),
    "a date": (http_date(3), 3.0),
    "zero": ("0", 0.25),
    "a date gone by": (http_date(-60), 0.25),
    "less than the back-off": ("0000", 0.25),
    "nonsense": ("soon", 0.25),
    "a negative number": ("-5", 0.25),
    "a fraction": ("1.5", 0.25),
    "half a date": ("Fri, 27 Nov 2026", 0.25),
    "a date that no calendar has": ("Fri, 31 Feb 2026 12:00:00 GMT", 0.25),
    "two of them": ("2, 3", 0.25),
    "nothing in it": ("", 0.25),
}


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("header", "wait"), RETRY_AFTER_THAT_FITS.values(), ids=RETRY_AFTER_THAT_FITS)
def test_retry_after_that_fits_is_waited_for(client_of, waits, status, header, wait):
    with Peer(answer(status, b"later", Retry_After=header), acknowledge()) as peer:
        assert client_of(peer.url).append(BODY, idempotency_key=KEY).event_id == "e-1"
        assert waits.asked == [wait]
        assert len(peer.received) == 2
        assert_each_attempt_was_the_same(peer)


@pytest.mark.parametrize(
    ("header", "passed_on"),
    [("600", "600"), ("21", "21"), (http_date(90), "90"), ("9" * 5000, str(10**11))],
    ids=["600", "just too long", "date", "absurd"],
)
@pytest.mark.parametrize(("status", "kind"), [(429, RateLimitExceeded), (503, StoreConnectionError)])
def test_retry_after_that_does_not_fit_gives_up_at_once_and_is_passed_on(
    client_of, waits, status, kind, header, passed_on
):
    with Peer(answer(status, Retry_After=header)) as peer:
        error = failure(client_of(peer.url), kind)
        assert error.details == {"attempts": 1, "upstream_status": status}
        assert error.headers == {"Retry-After": passed_on}
        assert len(peer.received) == 1
        assert waits.asked == []


def test_the_gap_is_really_waited(client_of, waits):
    waits.sleep = time.sleep
    with Peer(answer(429, Retry_After="1"), acknowledge()) as peer:
        client_of(peer.url).append(BODY, idempotency_key=KEY)
        first, second = peer.received
        assert 1.0 <= second.at - first.at < 3.0
