"""The store client's requests and readings, with respx in place of the network and with WSGI in place of a server."""

import logging
import subprocess
import sys
import time
from datetime import UTC

import httpx
import pytest
import respx
from pydantic import ValidationError

from agent.errors import (
    ConfigurationError,
    InternalError,
    StoreConnectionError,
    StoreNotFound,
    StoreWriteError,
)
from agent.ruvector.client import RuvectorClient
from agent.ruvector.health import StoreHealth
from tests.ruvector.fakes import API_KEY, BODY, KEY, Waits, store_client
from tests.ruvector.peer import Peer, answer, closed_port, silence

BASE = "https://store.example"
REF = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
LARGE = 10**400 + 7
ENVELOPE = {
    "type": "conversation_capture",
    "runId": REF,
    "source": "conversation-memory-agent",
    "timestamp": "2026-11-27T12:00:00Z",
    "payload": {"inputs": {"n": 1}},
    "position": 3,
    "tenant": "t",
}
TURN = {"turn_id": REF, "seq": 1, "conversation_id": REF, "role": "user", "content": "", "tool_invocations": []}


@pytest.fixture
def store():
    with respx.MockRouter(assert_all_mocked=True, assert_all_called=False) as router:
        yield router


@pytest.fixture
def client(store, waits) -> RuvectorClient:
    return store_client(BASE, waits, transport=httpx.MockTransport(store.handler))


def test_a_write_carries_the_headers_that_the_store_asks_for_and_the_envelope_as_it_is(store, client):
    route = store.post(f"{BASE}/v1/decision-events").respond(201, json={"status": "accepted", "eventId": "e"})
    client.append(BODY, idempotency_key=KEY)
    request = route.calls.last.request
    assert dict(request.headers) == {
        "host": "store.example",
        "user-agent": "conversation-memory-agent",
        "accept": "application/json",
        "authorization": f"Bearer {API_KEY}",
        "content-type": "application/json",
        "content-length": str(len(BODY)),
        "idempotency-key": KEY,
        "x-agent-id": "conversation-memory-agent",
    }
    assert request.content == BODY


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


# Reads


def test_an_event_is_read_whole_with_integers_of_any_size_and_fields_we_do_not_know(store, client):
    text = '{"type":"t","runId":"r","timestamp":"x","payload":{"n":%d,"nested":{"n":%d}},"new":%d}'
    store.get(f"{BASE}/v1/decision-events/{REF}").respond(200, content=text % (LARGE, LARGE, LARGE))
    event = client.event(REF)
    assert event.payload == {"n": LARGE, "nested": {"n": LARGE}}
    assert event.model_extra == {"new": LARGE}
    assert (event.type, event.run_id, event.position) == ("t", "r", None)


def test_records_are_frozen_and_dump_as_they_came(store, client):
    store.get(f"{BASE}/v1/decision-events/{REF}").respond(200, json=ENVELOPE)
    event = client.event(REF)
    assert event.model_dump(by_alias=True) == ENVELOPE
    with pytest.raises(ValidationError):
        event.position = 4


def test_events_are_read_page_by_page(store, client):
    route = store.get(f"{BASE}/v1/decision-events").respond(200, json={"events": [ENVELOPE], "next_cursor": "c 2/="})
    page = client.events(session_id=REF, limit=1)
    assert (page.events[0].position, page.next_cursor) == (3, "c 2/=")
    assert dict(route.calls.last.request.url.params) == {"session_id": REF, "limit": "1"}
    client.events(cursor=page.next_cursor)
    assert dict(route.calls.last.request.url.params) == {"limit": "100", "cursor": "c 2/="}


def test_turns_are_read_with_what_the_store_resolved(store, client):
    erased = {"turn_id": REF, "seq": 2, "conversation_id": REF, "parent_turn_id": REF, "erased": True}
    route = store.get(f"{BASE}/v1/sessions/{REF}/turns").respond(200, json={"turns": [TURN, erased], "version": 9})
    page = client.turns(REF, after_seq=4, limit=2)
    assert dict(route.calls.last.request.url.params) == {"after_seq": "4", "limit": "2"}
    first, second = page.turns
    assert (first.seq, first.content, first.parent_turn_id, first.erased) == (1, "", None, False)
    assert first.model_extra == {"tool_invocations": []}
    assert (second.content, second.parent_turn_id, second.erased) == (None, REF, True)
    assert page.model_extra == {"version": 9}


READS = {
    "event": (f"/v1/decision-events/{REF}", lambda client: client.event(REF)),
    "events": ("/v1/decision-events", lambda client: client.events()),
    "turns": (f"/v1/sessions/{REF}/turns", lambda client: client.turns(REF)),
}


@pytest.mark.parametrize(("path", "read"), READS.values(), ids=READS)
def test_a_read_of_what_is_not_there_has_its_own_error(store, client, path, read):
    route = store.get(BASE + path).respond(404, json={"error": "not_found"})
    with pytest.raises(StoreNotFound) as caught:
        read(client)
    assert (caught.value.status, caught.value.error_code) == (404, "VALIDATION_ERROR")
    assert caught.value.details == {"upstream_status": 404, "attempts": 1}
    assert route.call_count == 1


@pytest.mark.parametrize(("path", "read"), READS.values(), ids=READS)
def test_a_read_is_retried_even_where_writes_are_at_most_once(store, waits, path, read):
    client = store_client(BASE, waits, transport=httpx.MockTransport(store.handler), at_most_once=True)
    route = store.get(BASE + path)
    route.side_effect = [httpx.ReadError, httpx.Response(502), httpx.Response(429), httpx.Response(401)]
    with pytest.raises(StoreWriteError) as caught:
        read(client)
    assert caught.value.details == {"upstream_status": 401, "attempts": 4}


@pytest.mark.parametrize(
    "body", ["", "[]", "{", "null", '{"events": 1, "turns": 1}', '{"turns":[{"seq":"1"}],"events":[{}]}']
)
@pytest.mark.parametrize(("path", "read"), READS.values(), ids=READS)
def test_a_read_that_is_not_understood_is_an_error_without_its_text(store, client, path, read, body):
    store.get(BASE + path).respond(200, content=body)
    with pytest.raises(StoreWriteError) as caught:
        read(client)
    assert caught.value.details == {"upstream_status": 200, "attempts": 1}
    assert caught.value.__suppress_context__


def test_numbers_that_are_text_are_not_understood(store, client):
    store.get(f"{BASE}/v1/sessions/{REF}/turns").respond(200, json={"turns": [{**TURN, "seq": "1"}]})
    with pytest.raises(StoreWriteError):
        client.turns(REF)


@pytest.mark.parametrize("ref", ["a/b?c#d", "ü ", "%2e%2e", "..;"])
def test_an_id_is_one_quoted_segment_of_the_path(store, client, ref):
    seen = []
    store.get(url__startswith=f"{BASE}/v1/decision-events/").mock(
        side_effect=lambda request: seen.append(request.url) or httpx.Response(404)
    )
    with pytest.raises(StoreNotFound):
        client.event(ref)
    assert seen[0].path == f"/v1/decision-events/{ref}"
    assert seen[0].raw_path.count(b"/") == 3
    assert seen[0].query == b""


@pytest.mark.parametrize("ref", ["", ".", ".."])
def test_an_id_that_would_name_another_path_names_nothing(client, ref):
    with pytest.raises(StoreNotFound):
        client.turns(ref)


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
