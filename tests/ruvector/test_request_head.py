"""The head of a request: its lines are the request line and its fields, whatever their values are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import InternalError
from agent.ruvector.exchange import Unformed
from agent.ruvector.request_head import HeadStart
from tests.ruvector.asking import get
from tests.ruvector.fakes import BODY, KEY
from tests.ruvector.peer import Peer, acknowledge, echo

BROKEN = ["a\r\nInjected: b", "a\nb", "a\rb", "a\0b", "\r\n\r\nGET / HTTP/1.1"]
FIELDS = st.lists(st.tuples(st.binary(min_size=1), st.binary()), max_size=4)


def test_a_head_is_its_request_line_and_its_fields():
    start = HeadStart.of("POST", "/v1/a?b=c", [(b"Host", b"h"), (b"Accept", b"x")])
    assert start.whole([(b"X-Own", b"1")]) == b"POST /v1/a?b=c HTTP/1.1\r\nHost: h\r\nAccept: x\r\nX-Own: 1\r\n\r\n"


@given(FIELDS, FIELDS)
def test_a_head_has_no_line_but_its_own_or_there_is_none(always, own):
    try:
        head = HeadStart.of("GET", "/", always).whole(own)
    except Unformed:
        assert any(each in b"".join(map(b"".join, [*always, *own])) for each in (b"\r", b"\n", b"\0"))
    else:
        assert head.split(b"\r\n") == [b"GET / HTTP/1.1", *(b"%b: %b" % each for each in [*always, *own]), b"", b""]


@pytest.mark.parametrize("name", [b"X-Own", b"X-Own\r\nInjected"])
@pytest.mark.parametrize("value", BROKEN)
def test_a_line_break_in_a_header_is_refused(name, value):
    field = (name, value.encode())
    with pytest.raises(Unformed):
        HeadStart.of("GET", "/", [(b"Host", b"h")]).whole([field])
    with pytest.raises(Unformed):
        HeadStart.of("GET", "/", [field]).whole()


@pytest.mark.parametrize("value", BROKEN)
def test_a_value_with_a_line_of_its_own_is_our_error_and_nothing_is_sent(client_of, value):
    with Peer(acknowledge()) as peer:
        client, guarded = client_of(peer.url), client_of(peer.url, api_key=value)
        for attempt in (
            lambda: client.append(BODY, idempotency_key=value),
            lambda: client.append(BODY, idempotency_key=KEY, traceparent=value),
            lambda: guarded.append(BODY, idempotency_key=KEY),
            lambda: guarded.event("r"),
            lambda: guarded.health(timeout_s=5),
        ):
            with pytest.raises(InternalError) as caught:
                attempt()
            assert value not in repr(caught.value)
        assert peer.connections == 0


def test_only_an_append_says_how_long_its_body_is(client_of):
    with Peer(acknowledge(), echo) as peer:
        client = client_of(peer.url)
        client.append(BODY, idempotency_key=None)
        client.health(timeout_s=5)
        append, health = (request.headers for request in peer.received)
    assert append["content-length"] == str(len(BODY))
    assert "idempotency-key" not in append
    assert not {"content-length", "content-type", "transfer-encoding"} & set(health)
    assert append["host"] == health["host"] == f"127.0.0.1:{peer.port}"


def test_a_second_append_says_nothing_of_the_first(client_of, transport):
    with Peer(acknowledge()) as peer:
        client = client_of(peer.url, transport=transport)
        client.append(BODY, idempotency_key=KEY, traceparent="00-a-b-01")
        client.append(BODY + b" ", idempotency_key=None)
        first, second = peer.received
        assert get(transport, peer.url).status == 201
    assert {*first.headers} - {*second.headers} == {"idempotency-key", "traceparent"}
    assert second.headers["content-length"] == str(len(BODY) + 1)
