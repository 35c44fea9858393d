"""The store client's requests and readings, with respx in place of the network and with WSGI in place of a server."""

import logging
import subprocess
import sys
import time
from datetime import UTC

import httpx
import pytest

from agent.errors import (
    ConfigurationError,
    InternalError,
    StoreConnectionError,
    StoreNotFound,
    ValidationError,
)
from agent.ruvector.client import RuvectorClient
from agent.ruvector.health import StoreHealth
from tests.ruvector.fakes import API_KEY, BASE, BODY, KEY, Waits, store_client
from tests.ruvector.peer import Peer, acknowledge, answer, closed_port, silence


def test_a_write_carries_the_headers_that_the_store_asks_for_and_the_envelope_as_it_is(store, client):
    route = store.post(f"{BASE}/v1/decision-events").respond(201, json={"status": "accepted", "eventId": "e"})
    client.append(BODY, idempotency_key=KEY)
    request = route.calls.last.request
    assert dict(request.headers) == {
        "host": "store.example",
        "user-agent": "conversation-memory-agent",
        "accept": "application/json",
        "accept-encoding": "identity",
        "authorization": f"Bearer {API_KEY}",
        "content-type": "application/json",
        "content-length": str(len(BODY)),
        "idempotency-key": KEY,
        "x-agent-id": "conversation-memory-agent",
    }
    assert request.content == BODY


def test_every_request_rules_out_a_content_coding(client_of):
    with Peer(acknowledge(), answer(200), answer(404)) as peer:
        client = client_of(peer.url)
        client.append(BODY, idempotency_key=KEY)
        client.health(timeout_s=5)
        for read in (lambda: client.event("r"), client.events, lambda: client.turns("s")):
            with pytest.raises(StoreNotFound):
                read()
        assert [request.headers["accept-encoding"] for request in peer.received] == ["identity"] * 5


@pytest.mark.parametrize("body", [b'{"eventId":"e-1","position":%d}' % 10**30, rb'{"eventId":"e-1","note":"\ud800"}'])
def test_an_odd_acknowledgement_is_no_reason_to_write_again(client_of, body):
    with Peer(answer(201, body)) as peer:
        assert client_of(peer.url).append(BODY, idempotency_key=KEY).event_id == "e-1"
        assert len(peer.received) == 1


def test_without_a_key_there_is_no_authorization(store, waits):
    route = store.post(f"{BASE}/v1/decision-events").respond(201, json={})
    transport = httpx.MockTransport(store.handler)
    store_client(BASE, waits, transport=transport, api_key=None).append(BODY, idempotency_key=KEY)
    assert "authorization" not in route.calls.last.request.headers


@pytest.mark.parametrize("base", [f"{BASE}/a/store", f"{BASE}/a/store/", f"{BASE}/a/store//"])
def test_the_base_url_may_have_a_path_and_a_trailing_slash(store, waits, base):
    write = store.post(f"{BASE}/a/store/v1/decision-events").respond(201, json={})
    health = store.get(f"{BASE}/a/store/health").respond(200)
    client = store_client(base, waits, transport=httpx.MockTransport(store.handler))
    client.append(BODY, idempotency_key=KEY)
    client.health(timeout_s=1)
    assert write.called
    assert health.called


def test_latency_is_the_whole_time_of_the_append_waits_included(store, client, waits):
    store.post(f"{BASE}/v1/decision-events").mock(side_effect=[httpx.Response(503), httpx.Response(201, json={})])
    assert 250 <= client.append(BODY, idempotency_key=KEY).latency_ms < 5000
    assert waits.asked == [0.25]


@pytest.mark.parametrize(
    "error", [httpx.ReadError, httpx.RemoteProtocolError, httpx.DecodingError, httpx.PoolTimeout, httpx.ProxyError]
)
def test_whatever_a_transport_raises_on_the_way_is_a_connection_error(store, client, error):
    store.post(f"{BASE}/v1/decision-events").mock(side_effect=error)
    with pytest.raises(StoreConnectionError) as caught:
        client.append(BODY, idempotency_key=KEY)
    assert caught.value.details == {"attempts": 4}


def test_a_request_that_cannot_be_formed_is_our_own_error_and_not_retried(store, client):
    route = store.post(f"{BASE}/v1/decision-events").mock(side_effect=httpx.LocalProtocolError)
    with pytest.raises(InternalError):
        client.append(BODY, idempotency_key=KEY)
    assert route.call_count == 1


def test_an_idempotency_key_outside_ascii_is_refused_without_being_repeated(client):
    with pytest.raises(InternalError) as caught:
        client.append(BODY, idempotency_key="schlüssel")
    assert "schl" not in repr(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("url", ["http://[::1", "http://host:port", "http://a b\x00"])
def test_a_base_url_that_is_none_is_a_configuration_error(waits, url):
    with pytest.raises(ConfigurationError) as caught:
        store_client(url, waits, transport=httpx.MockTransport(lambda request: httpx.Response(200)))
    assert caught.value.variable == "RUVECTOR_SERVICE_URL"


def test_a_question_too_long_for_an_address_is_the_callers_error(client):
    with pytest.raises(ValidationError) as caught:
        client.ask("GET", "/v1/sessions", {"user_id": "CANARY" * 20_000}, bytes)
    assert [(found.path, found.rule) for found in caught.value.problems] == [("$", "maxLength")]
    assert "CANARY" not in repr(caught.value)
    assert caught.value.__context__ is None


def test_success_logs_nothing(store, client, caplog):
    caplog.set_level(logging.DEBUG)
    store.post(f"{BASE}/v1/decision-events").respond(201, json={})
    client.append(BODY, idempotency_key=KEY)
    assert caplog.records == []


def test_the_response_of_a_transport_is_closed_even_if_reading_it_fails(waits):
    closed = []

    class Broken(httpx.SyncByteStream):
        def __iter__(self):
            yield b"{"
            raise httpx.ReadError("gone")

        def close(self):
            closed.append(True)

    transport = httpx.MockTransport(lambda request: httpx.Response(201, stream=Broken()))
    with pytest.raises(StoreConnectionError):
        store_client(BASE, waits, transport=transport).append(BODY, idempotency_key=KEY)
    assert len(closed) == 4


def test_the_same_client_speaks_to_a_store_in_process(waits):
    def application(environ, start_response):
        body = environ["wsgi.input"].read()
        assert (environ["REQUEST_METHOD"], environ["PATH_INFO"]) == ("POST", "/v1/decision-events")
        assert int(environ["CONTENT_LENGTH"]) == len(body)
        assert environ["HTTP_IDEMPOTENCY_KEY"] == KEY
        start_response("201 Created", [("Content-Type", "application/json")])
        return [b'{"status":"accepted",', b'"eventId":"e-1"}']

    transport = httpx.WSGITransport(app=application)
    client = store_client("http://embedded.invalid", waits, transport=transport, api_key=None)
    assert client.append(BODY, idempotency_key=KEY).event_id == "e-1"
    client.close()


def test_the_defaults_are_the_real_clock_and_real_chance():
    with Peer(answer(503, Retry_After="Thu, 01 Jan 2026 00:00:00 GMT"), answer(201, b"{}")) as peer:
        from agent.ruvector.transport import KeepAliveTransport

        client = RuvectorClient(KeepAliveTransport(), base_url=peer.url, api_key=None, kind="http")
        assert client.append(BODY, idempotency_key=KEY).event_id is None
        assert client._wall_clock().tzinfo is UTC
        client.close()


# Health


@pytest.mark.parametrize(
    ("status", "health"), [(200, "ok"), (204, "ok"), (302, "error"), (401, "error"), (500, "error"), (503, "error")]
)
def test_health_asks_once_and_tells_what_was_answered(store, client, waits, status, health):
    route = store.get(f"{BASE}/health").respond(status)
    found = client.health(timeout_s=1)
    assert (found.status, found.kind) == (health, "http")
    assert 0 <= found.latency_ms < 5000
    assert route.call_count == 1
    assert waits.asked == []


def test_a_store_that_is_down_is_unreachable_and_no_error(client_of):
    found = client_of(f"http://127.0.0.1:{closed_port()}").health(timeout_s=1)
    assert found == StoreHealth("unreachable", found.latency_ms, "http")


def test_health_of_a_silent_store_takes_no_longer_than_its_timeout(client_of):
    with Peer(silence()) as peer:
        started = time.monotonic()
        found = client_of(peer.url).health(timeout_s=0.2)
        assert time.monotonic() - started < 2
        assert found.status == "unreachable"
        assert found.latency_ms >= 200
        assert len(peer.received) == 1


def test_a_capture_loads_neither_pydantic_nor_tenacity_nor_the_stack_of_httpx():
    program = (
        "import sys, agent.ruvector.client, agent.ruvector.transport\n"
        "late = {'pydantic', 'tenacity', 'httpcore', 'h11', 'anyio', 'jsonschema', 'certifi'}\n"
        "print(sorted(late & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_waits_move_their_own_clock():
    waits = Waits()
    before = waits.clock()
    waits.sleep(100)
    assert waits.clock() - before >= 100


TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_every_attempt_names_the_place_in_the_trace_that_it_is_made_in(client_of):
    with Peer(answer(503), answer(503), acknowledge()) as peer:
        receipt = client_of(peer.url).append(BODY, idempotency_key=KEY, traceparent=TRACEPARENT)
        assert [request.headers["traceparent"] for request in peer.received] == [TRACEPARENT] * 3
        assert receipt.attempts == 3


def test_an_append_outside_of_a_trace_names_none(client_of):
    with Peer(acknowledge()) as peer:
        assert client_of(peer.url).append(BODY, idempotency_key=KEY).attempts == 1
        assert "traceparent" not in peer.received[0].headers
