"""The store client's reads, with respx in place of the network."""

import json
from urllib.parse import parse_qs

import httpx
import pytest
from pydantic import ValidationError

from agent.errors import StoreNotFound, StoreWriteError
from agent.ruvector.client import MAX_READ_BYTES
from agent.ruvector.embedded import EmbeddedTransport
from tests.ruvector.fakes import BASE, store_client

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


def test_a_page_of_sessions_that_is_too_long_is_asked_for_again_in_smaller_ones(waits):
    row = {"session_id": REF, "created_at": "x", "last_activity": "x", "turn_count": 1, "version": 1}

    def application(environ, start_response):
        limit = int(parse_qs(environ["QUERY_STRING"])["limit"][0])
        start_response("200 OK", [])
        page = json.dumps({"sessions": [row] * limit, "next_cursor": "c"}).encode()
        return [b" " * (MAX_READ_BYTES + 1) if limit > 6 else page]

    client = store_client(BASE, waits, transport=EmbeddedTransport(application, close_store=lambda: None))
    assert len(client.reads.sessions(limit=100).sessions) == 6


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


@pytest.mark.parametrize("name", ["turn_count", "version", "total_tokens"])
def test_a_session_that_counts_less_than_nothing_is_not_what_was_asked_for(store, client, name):
    row = {"session_id": REF, "created_at": "x", "last_activity": "x", "turn_count": 0, "version": 0, "total_tokens": 0}
    store.get(f"{BASE}/v1/sessions/{REF}").respond(200, json=row)
    assert client.reads.session(REF).model_dump()[name] == 0
    store.get(f"{BASE}/v1/sessions/{REF}").respond(200, json={**row, name: -1})
    with pytest.raises(StoreWriteError):
        client.reads.session(REF)


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
