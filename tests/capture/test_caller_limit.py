"""A limit in front of a capture: 429 and typed, before anything of the body is read; health and the like have none."""

import json

import pytest

from agent.callers.rate_limit import RateLimit, limits_of
from agent.core.api_keys import ApiKeys
from tests.callers.clock import Clock
from tests.capture.fakes import EXECUTION_REF, app, environ
from tests.published import check_answer

KEY, OTHER = "caller-key-0123456789", "other-key-01234567890"


@pytest.fixture
def clock():
    return Clock()


def limited(clock, text="2/minute"):
    return RateLimit(limits_of("RATE_LIMIT", text), monotonic_ns=clock)


def by(key, **more):
    return environ(authorization=f"Bearer {key}", **more)


def test_a_request_too_many_is_429_with_the_time_to_wait_and_nothing_is_written(store, telemetry, clock):
    handle = app(store, telemetry, limit=limited(clock)).handle
    assert [handle(environ()).status_code for _ in range(3)] == [200, 200, 429]
    refused = handle(environ())
    assert (refused.headers["Retry-After"], refused.headers["X-Execution-Ref"]) == ("60", EXECUTION_REF)
    body = json.loads(refused.get_data())
    check_answer(body)
    assert (body["error"]["error_code"], body["error"]["details"]) == ("RATE_LIMIT_EXCEEDED", {"limit": "rate"})
    assert len(store.appended) == 2
    assert [name for name, _ in telemetry.reports[-3:]] == ["begin", "failed", "end"]
    clock.wait(60)
    assert handle(environ()).status_code == 200


def test_nothing_of_the_body_is_read_before_the_refusal_is_answered_and_all_of_it_after(store, telemetry, clock):
    handle = app(store, telemetry, limit=limited(clock, "1/minute")).handle
    handle(environ())
    request = environ(body=b"A" * (1024 * 1024))
    response = handle(request)
    pieces = iter(response.response)
    assert (response.status_code, next(pieces)[:16]) == (429, b'{"success":false')
    assert request["wsgi.input"].tell() == 0
    assert list(pieces) == []
    assert request["wsgi.input"].read() == b""


def test_each_key_has_its_own_and_who_has_no_key_takes_from_none(store, telemetry, clock):
    keys = ApiKeys.parse("CAPTURE_API_KEYS", f"{KEY},{OTHER}")
    handle = app(store, telemetry, keys=keys, limit=limited(clock)).handle
    assert {handle(by("no-key-of-anybody-0123")).status_code for _ in range(9)} == {401}
    assert [handle(by(KEY)).status_code for _ in range(3)] == [200, 200, 429]
    assert [handle(by(OTHER)).status_code for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize("path", ["/health", "/conversation-memory/health", "/openapi.json"])
def test_health_and_the_description_have_no_limit_and_take_from_none(store, telemetry, clock, path):
    handle = app(store, telemetry, limit=limited(clock)).handle
    assert {handle(environ("GET", path, b"")).status_code for _ in range(9)} == {200}
    assert [handle(environ()).status_code for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize(("method", "path", "status"), [("POST", "/nowhere", 404), ("GET", "/", 405)])
def test_what_is_no_capture_takes_from_none(store, telemetry, clock, method, path, status):
    handle = app(store, telemetry, limit=limited(clock)).handle
    assert {handle(environ(method, path, b"")).status_code for _ in range(9)} == {status}
    assert handle(environ()).status_code == 200
