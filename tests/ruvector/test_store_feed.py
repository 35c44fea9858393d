"""The feed is read page by page, each envelope as the very bytes that the store sent."""

import json
from urllib.parse import parse_qs

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import StoreNotFound, StoreWriteError
from agent.ruvector.client import MAX_READ_BYTES
from agent.ruvector.embedded import EmbeddedTransport
from agent.ruvector.feed import FedEvent, FeedPage, read_page
from tests.ruvector.fakes import BASE, store_client
from tests.strategies import json_values, text

FEED = f"{BASE}/events/decisions"
# What a parser would lose: digits, the form of a number, keys that come twice, white space, escapes, bytes that are
# no UTF-8.
ODD = [
    b'{"runId":"r","n":12345678901234567890123456789.10}',
    b'{"runId" : "r",\n "n": 1.0, "e": 1E400, "zero": -0.0, "minus": -0}',
    b'{"a":1,"a":2}',
    b'{"s":"\\ud800 \\u0000 \\/ \xc3\xa9"}',
    b'{"nan":NaN,"s":"\xff\xfe"}',
    b"9" * 5000,
    b'"text"',
    b"null",
    b"[[],{}]",
]


def page_of(*events: bytes, rest: bytes = b',"next_cursor":null') -> bytes:
    return b'{"events":[' + b" , ".join(events) + b"]" + rest + b"}"


def read(body: bytes, limit: int = 100) -> FeedPage:
    return read_page(body, limit=limit)


@pytest.mark.parametrize("text", ODD)
def test_an_envelope_is_cut_out_as_it_came(text):
    page = read(page_of(b'{"runId":"before"}', text, b'{"runId":"after"}'))
    assert [event.text for event in page.events] == [b'{"runId":"before"}', text, b'{"runId":"after"}']


@given(
    st.lists(json_values, max_size=4),
    st.dictionaries(text.filter(lambda name: name not in ("events", "next_cursor")), json_values, max_size=3),
    st.sampled_from([None, 0, 2]),
    st.booleans(),
)
def test_every_envelope_is_found_whatever_stands_around_it(events, others, indent, ascii_only):
    document = {**others, "events": events, "next_cursor": "c"}
    texts = [json.dumps(event, indent=indent, ensure_ascii=ascii_only) for event in events]
    body = json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode()
    page = read(body)
    assert [json.loads(event.text) for event in page.events] == [json.loads(text) for text in texts]
    assert page.next_cursor == "c"


def test_what_a_mover_needs_is_read_of_an_envelope():
    event = {
        "type": "conversation_capture",
        "runId": "R-1",
        "position": 7,
        "payload": {"execution_ref": "other", "inputs_hash": "a" * 64},
    }
    [fed] = read(page_of(json.dumps(event).encode())).events
    assert (fed.position, fed.execution_ref, fed.type, fed.key) == (7, "R-1", "conversation_capture", "a" * 64)


def test_a_bare_event_stands_for_its_envelope():
    event = {"decision_type": "plan_approved", "execution_ref": "r", "inputs_hash": "h"}
    [fed] = read(page_of(json.dumps(event).encode())).events
    assert (fed.position, fed.execution_ref, fed.type, fed.key) == (None, "r", "plan_approved", "h")


@pytest.mark.parametrize(
    "event",
    [
        b"null",
        b"{}",
        b'{"runId":7,"type":null,"position":"3","payload":{"inputs_hash":"\\u00e9"}}',
        b'{"position":1.0,"payload":{"inputs_hash":"a b"}}',
        b'{"position":true,"runId":"","payload":[]}',
        b'{"position":-1}',
        b'{"position":9223372036854775808}',
        b'{"position":%b}' % (b"9" * 5000),
    ],
)
def test_an_envelope_that_does_not_say_it_as_ours_do_is_passed_on_all_the_same(event):
    assert read(page_of(event)).events == (FedEvent(event, None, None, None, None),)


def test_half_a_surrogate_pair_in_a_name_is_shown_as_its_escape():
    [fed] = read(page_of(b'{"runId":"r\\ud800"}')).events
    assert fed.execution_ref == "r\\ud800"


@pytest.mark.parametrize(
    ("cursor", "understood"),
    [
        ("null", None),
        ('""', None),
        ('"c 2/="', "c 2/="),
        ("17", "17"),
        ("0", "0"),
        ("1.50", "1.50"),
        ("9" * 40, "9" * 40),
    ],
)
def test_a_cursor_is_text_or_a_number(cursor, understood):
    page = read(page_of(b"{}", rest=f',"next_cursor": {cursor}'.encode()), limit=1)
    assert (page.next_cursor, page.is_open) == (understood, False)


@pytest.mark.parametrize(("limit", "is_open"), [(3, False), (2, True), (1, True)])
def test_a_page_without_a_cursor_is_open_where_it_is_as_long_as_was_asked(limit, is_open):
    page = read(page_of(b"{}", b"{}", rest=b""), limit=limit)
    assert (page.next_cursor, page.is_open) == (None, is_open)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b'{"events":[]',
        b'{"events":[}',
        b'{"events":[1,]}',
        b'{"events":[],}',
        b'{"events":[1 2]}',
        b'{"events":{}}',
        b'{"next_cursor":null}',
        b'{"events":[]} x',
        b'{"events":[],1:2}',
        b'{"events":[],"next_cursor":NaN}',
        b'{"events":[],"next_cursor":[]}',
        b'{"events":[],"next_cursor":true}',
        b'{"events":[],"next_cursor":"\\ud800"}',
        b'{"events":[],"next_cursor":"%b"}' % (b"c" * 5000),
        b'{"events":' + b"[" * 100_000,
    ],
)
def test_what_is_no_page_is_refused(body):
    with pytest.raises(ValueError):  # noqa: PT011 - any ValueError: the client asks no more of a reader
        read(body)


def test_a_page_is_asked_for_beyond_a_cursor_and_of_some_types(store, client):
    route = store.get(FEED).respond(200, content=page_of(b'{"runId":"r"}', rest=b',"next_cursor":"c 2/="'))
    assert client.reads.feed().next_cursor == "c 2/="
    assert dict(route.calls.last.request.url.params) == {"limit": "100"}
    client.reads.feed("c 2/=", limit=3, types=("a", "b c"))
    assert dict(route.calls.last.request.url.params) == {"after": "c 2/=", "limit": "3", "types": "a,b c"}


def too_long_above(longest: int):
    """A store whose pages of more than ``longest`` events are longer than a client takes."""

    def application(environ, start_response):
        limit = int(parse_qs(environ["QUERY_STRING"])["limit"][0])
        start_response("200 OK", [("Content-Type", "application/json")])
        return [b" " * (MAX_READ_BYTES + 1) if limit > longest else page_of(*[b"{}"] * limit)]

    return EmbeddedTransport(application, close_store=lambda: None)


def test_a_page_that_is_too_long_is_asked_for_again_in_smaller_ones(waits):
    client = store_client(BASE, waits, transport=too_long_above(6))
    assert len(client.reads.feed(limit=100).events) == 6


def test_one_event_that_is_too_long_is_an_error(waits):
    client = store_client(BASE, waits, transport=too_long_above(0))
    with pytest.raises(StoreWriteError) as caught:
        client.reads.feed(limit=2)
    assert caught.value.details == {"upstream_status": 200, "attempts": 1}


def test_a_store_without_a_feed_is_told(store, client):
    store.get(FEED).respond(404)
    with pytest.raises(StoreNotFound):
        client.reads.feed()


def test_a_feed_is_read_with_the_retries_of_every_read(store, client, waits):
    route = store.get(FEED)
    route.side_effect = [
        httpx.ReadError,
        httpx.Response(503, headers={"Retry-After": "2"}),
        httpx.Response(200, content=page_of()),
    ]
    assert client.reads.feed().events == ()
    assert route.call_count == 3
    assert waits.asked[-1] == 2.0


def test_a_page_that_is_not_understood_is_an_error_without_its_text(store, client):
    store.get(FEED).respond(200, content=b'{"events":"SECRET-71b"}')
    with pytest.raises(StoreWriteError) as caught:
        client.reads.feed()
    assert caught.value.details == {"upstream_status": 200, "attempts": 1}
    assert caught.value.__suppress_context__


def test_an_event_without_a_key_of_its_own_is_appended_without_one(store, client):
    route = store.post(f"{BASE}/v1/decision-events").respond(201, json={"eventId": "e"})
    client.append(b"{}", idempotency_key=None)
    assert "Idempotency-Key" not in route.calls.last.request.headers
    client.append(b"{}", idempotency_key="k")
    assert route.calls.last.request.headers["Idempotency-Key"] == "k"
