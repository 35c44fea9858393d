"""A limit in front of a queue: 503 with a time, by which the delivery comes again; 429 would be a refusal for good."""

import json

from agent.callers.callers import Callers
from agent.callers.rate_limit import RateLimit, limits_of
from tests.callers.clock import Clock
from tests.capture.events.conftest import events_on
from tests.capture.events.envelopes import bare
from tests.live.payloads import BASE_TEXT

BODY = BASE_TEXT.encode()


def test_a_delivery_too_many_is_told_to_come_again_and_nothing_of_it_is_read(store, telemetry):
    clock = Clock()
    limit = RateLimit(limits_of("RATE_LIMIT", "2/minute"), monotonic_ns=clock)
    handle = events_on(store, telemetry, callers=Callers(limit=limit)).handle
    assert {handle(bare(b"").environ("/health", "GET")).status_code for _ in range(9)} == {200}
    assert [handle(bare(BODY).environ()).status_code for _ in range(2)] == [200, 200]
    request = bare(BODY).environ()
    refused = handle(request)
    pieces = iter(refused.response)
    error = json.loads(next(pieces))["error"]
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "60")
    assert (error["error_code"], error["details"]) == ("RATE_LIMIT_EXCEEDED", {"limit": "rate"})
    assert request["wsgi.input"].tell() == 0
    assert list(pieces) == []
    assert len(store.appended) == 2
    clock.wait(60)
    assert handle(bare(BODY).environ()).status_code == 200
