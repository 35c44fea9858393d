"""One event, and lists of them, as the very bytes that the store sent."""

import json

import httpx
import pytest
from hypothesis import given

from agent.errors import StoreNotFound, StoreWriteError
from agent.ruvector.client import MAX_READ_BYTES
from agent.ruvector.embedded import EmbeddedTransport
from agent.ruvector.feed import FEED_PATH, execution_ref_of, read_event
from tests.ruvector.fakes import BASE, store_client
from tests.ruvector.test_store_feed import too_long_above
from tests.strategies import json_values

EVENTS = f"{BASE}/v1/decision-events"
# Digits, the form of a number, white space and escapes that a parser would lose.
TEXT = b'{ "runId" : "r", "n": 12345678901234567890.10, "e":1E400, "s":"\\ud800\\/ \xc3\xa9", "position": 7 }'


def test_one_event_is_cut_out_of_its_answer_as_it_came(store, client):
    route = store.get(f"{EVENTS}/r").respond(200, content=b"\xef\xbb\xbf \n" + TEXT + b"\n")
    event = client.reads.raw_event("r")
    assert (event.text, event.position, event.execution_ref) == (TEXT, 7, "r")
    assert route.calls.last.request.url.query == b""


@given(json_values)
def test_only_an_object_is_an_event(value):
    text = json.dumps(value)
    if isinstance(value, dict):
        assert read_event(text.encode()).text == text.encode()
    else:
        with pytest.raises(ValueError, match="no event"):
            read_event(text.encode())


@pytest.mark.parametrize("body", [b"", b"{", b"{} {}", b"null", b'{"a":1} x', b'{"a":' + b"[" * 100_000])
def test_what_is_no_event_is_an_error_without_its_text(store, client, body):
    store.get(f"{EVENTS}/r").respond(200, content=body)
    with pytest.raises(StoreWriteError) as caught:
        client.reads.raw_event("r")
    assert caught.value.details == {"upstream_status": 200, "attempts": 1}
    assert caught.value.__suppress_context__


UNPRINTABLE = [b'{"runId":"r","n":NaN}', b'{"runId":"r","n":-Infinity}', b'{"runId":"\xff"}', b'{"runId":"\n"}']


@pytest.mark.parametrize("text", [*UNPRINTABLE, b"{}", b'{"runId":5}', b'{"payload":{}}'])
def test_an_event_that_could_not_be_printed_or_has_no_name_is_not_what_was_asked_for(store, client, text):
    store.get(f"{EVENTS}/r").respond(200, content=text)
    with pytest.raises(StoreWriteError):
        client.reads.raw_event("r")


@pytest.mark.parametrize("text", [*UNPRINTABLE, b"3", b"null", b'"r"', b"[]"])
def test_a_page_that_could_not_be_printed_is_refused_and_a_mover_takes_it_as_it_is(store, client, text):
    store.get(EVENTS).respond(200, content=b'{"events":[' + text + b"]}")
    store.get(f"{BASE}{FEED_PATH}").respond(200, content=b'{"events":[' + text + b"]}")
    with pytest.raises(StoreWriteError):
        client.reads.raw_events()
    with pytest.raises(StoreWriteError):
        client.reads.feed(shown=True)
    assert client.reads.feed().events[0].text == text


def test_a_page_that_is_nested_too_deep_is_refused(store, client):
    store.get(EVENTS).respond(200, content=b'{"events":[{"a":' + b"[" * 100_000)
    with pytest.raises(StoreWriteError):
        client.reads.raw_events()


def test_what_is_no_envelope_has_no_name():
    assert execution_ref_of(3) is None


def test_an_event_that_is_not_there_has_its_own_error_and_its_name_is_one_segment(store, client):
    route = store.get(url__startswith=f"{EVENTS}/").respond(404)
    with pytest.raises(StoreNotFound):
        client.reads.raw_event("a/../b?c#d")
    assert route.calls.last.request.url.raw_path == b"/v1/decision-events/a%2F..%2Fb%3Fc%23d"


def test_an_event_that_is_longer_than_is_taken_is_an_error(waits):
    def application(environ, start_response):
        start_response("200 OK", [])
        return [b" " * (MAX_READ_BYTES + 1)]

    client = store_client(BASE, waits, transport=EmbeddedTransport(application, close_store=lambda: None))
    with pytest.raises(StoreWriteError) as caught:
        client.reads.raw_event("r")
    assert caught.value.upstream_status == 200


def test_a_list_is_asked_for_by_the_names_of_the_contract(store, client):
    route = store.get(EVENTS).respond(200, content=b'{"events":[%b],"next_cursor":"c 2/="}' % TEXT)
    page = client.reads.raw_events(
        limit=3, cursor="c 1", session_id="s", since="2026-03-02T08:15:00+02:00", until=None, order="desc"
    )
    assert ([event.text for event in page.events], page.next_cursor) == ([TEXT], "c 2/=")
    assert dict(route.calls.last.request.url.params) == {
        "session_id": "s",
        "from": "2026-03-02T08:15:00+02:00",
        "order": "desc",
        "cursor": "c 1",
        "limit": "3",
    }


def test_a_list_that_is_too_long_is_asked_for_again_in_smaller_pages(waits):
    client = store_client(BASE, waits, transport=too_long_above(6))
    assert len(client.reads.raw_events(limit=100).events) == 6
    with pytest.raises(StoreWriteError):
        store_client(BASE, waits, transport=too_long_above(0)).reads.raw_events(limit=2)


def test_both_are_read_with_the_retries_of_every_read(store, client):
    one, many = store.get(f"{EVENTS}/r"), store.get(EVENTS)
    one.side_effect = [httpx.ReadError, httpx.Response(200, content=b'{"runId":"r"}')]
    many.side_effect = [httpx.Response(502), httpx.Response(200, content=b'{"events":[]}')]
    assert client.reads.raw_event("r").text == b'{"runId":"r"}'
    assert client.reads.raw_events().events == ()
