"""Without keys the store is for programs on its own host: no proxy's clients, no web pages. So are the metrics."""

import pytest

from store.errors import Forbidden, Unauthorized
from store.http.access import Guard, Key
from tests.store.access.callers import ADMIN, BOTH, guard, request

HERE = ["127.0.0.1", "127.8.9.10", "127.255.255.255", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "::FFFF:7f00:1"]
ELSEWHERE = [
    "10.0.0.1", "192.168.0.1", "169.254.8.129", "128.0.0.1", "126.255.255.255", "0.0.0.0", "203.0.113.9", "::", "::2",
    "fe80::1", "fc00::1", "2001:db8::1", "::ffff:10.0.0.1", "::ffff:128.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1",
    "", " ", "localhost", "unix:", "127.0.0.1:80", "127.1", "0x7f000001", "2130706433", "127.0.0.1, 127.0.0.1",
    "127.0.0.01", "\xff", "\u0661\u0662\u0667.0.0.1", "::ffff:127.0.0.1.5",
]  # fmt: skip
METRICS = "metrics-key-0123456789"


def keyless(*origins: str) -> Guard:
    return guard((), origins=origins)


def opened_by(key: str = METRICS) -> Guard:
    return guard(metrics_key=Key.of("m", key).digest)


@pytest.mark.parametrize("address", HERE)
def test_without_keys_a_program_on_this_host_may_do_all(address: str) -> None:
    for right in ("read", "write", "admin"):
        caller = keyless().check(request(REMOTE_ADDR=address), right)
        assert (caller.tenant, caller.key_name) == ("default", "loopback")


def test_a_call_in_this_process_has_no_address_and_is_from_here() -> None:
    assert keyless().check({"REQUEST_METHOD": "GET"}, "admin").key_name == "loopback"


def test_a_key_that_nobody_asked_for_does_no_harm() -> None:
    assert keyless().check(request("some-key", REMOTE_ADDR="::1"), "write").tenant == "default"


@pytest.mark.parametrize("address", ELSEWHERE)
def test_without_keys_everybody_else_is_403_and_told_why(address: str) -> None:
    for sent in (request(REMOTE_ADDR=address), request(BOTH, REMOTE_ADDR=address)):
        with pytest.raises(Forbidden, match="no keys are configured"):
            keyless().check(sent, "read")


@pytest.mark.parametrize(
    "name",
    [
        "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA", "HTTP_X_FORWARDED", "HTTP_X_FORWARDED_FOR",
        "HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_PREFIX",
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", ["127.0.0.1", "for=127.0.0.1", "", "198.51.100.7"])
def test_what_a_proxy_on_this_host_forwards_is_not_from_here(name: str, value: str) -> None:
    sent = request(REMOTE_ADDR="127.0.0.1", **{name: value})
    with pytest.raises(Forbidden):
        keyless().check(sent, "read")
    with pytest.raises(Unauthorized):
        opened_by().check_metrics(sent)


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:8080", "", "https://app.example."]
)
def test_a_web_page_on_this_host_may_not_call_a_store_without_keys(origin: str) -> None:
    sent = request(REMOTE_ADDR="127.0.0.1", HTTP_ORIGIN=origin)
    for checked in (keyless(), keyless("https://app.example"), keyless("*")):
        with pytest.raises(Forbidden):
            checked.check(sent, "write")


def test_a_web_page_of_a_configured_origin_may() -> None:
    sent = request(REMOTE_ADDR="::1", HTTP_ORIGIN="https://app.example")
    assert keyless("https://other.example", "https://app.example").check(sent, "write").tenant == "default"


@pytest.mark.parametrize("address", HERE)
def test_the_metrics_are_open_on_this_host_keys_or_not(address: str) -> None:
    for checked in (guard(), keyless(), opened_by()):
        checked.check_metrics(request(REMOTE_ADDR=address))


def test_the_metrics_are_open_to_their_key_from_anywhere() -> None:
    opened_by().check_metrics(request(METRICS))
    opened_by().check_metrics(request(METRICS, HTTP_VIA="1.1 proxy"))


@pytest.mark.parametrize("key", [None, BOTH, ADMIN, "metrics-key-012345678", "\xff"])
def test_no_key_of_a_tenant_opens_the_metrics(key: str | None) -> None:
    with pytest.raises(Unauthorized):
        opened_by().check_metrics(request(key))


@pytest.mark.parametrize("key", [None, BOTH, ADMIN, METRICS])
def test_without_a_metrics_key_they_are_for_this_host_alone(key: str | None) -> None:
    with pytest.raises(Forbidden, match="METRICS_KEY is not set"):
        guard().check_metrics(request(key))


def test_the_metrics_key_is_no_key_of_the_store() -> None:
    with pytest.raises(Unauthorized):
        opened_by().check(request(METRICS), "read")
