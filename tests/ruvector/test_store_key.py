"""What the store says of the key: refused, of another role, good enough; and which role a question needs."""

import time

import httpx
import pytest

from agent.errors import StoreWriteError
from agent.ruvector.client import MAX_READ_BYTES
from agent.ruvector.embedded import EmbeddedTransport
from tests.ruvector.asking import failure
from tests.ruvector.fakes import BASE, store_client
from tests.ruvector.peer import Peer, closed_port, silence

STATS = f"{BASE}/v1/stats"
MAY_NOT = "the store says that the key may not do this (403): check RUVECTOR_API_KEY, it needs the role "


@pytest.mark.parametrize(
    ("role", "ask"),
    [
        ("read", lambda client: client.reads.stats()),
        ("read", lambda client: client.reads.feed()),
        ("read", lambda client: client.reads.raw_event("r")),
        ("read", lambda client: client.reads.sessions(user_id="u")),
        ("admin", lambda client: client.reads.audit()),
        ("admin", lambda client: client.erasure.session("s")),
        ("admin", lambda client: client.erasure.export_user("u")),
    ],
)
def test_a_question_that_the_key_may_not_ask_names_the_role_that_it_needs(store, client, role, ask):
    store.route().respond(403)
    with pytest.raises(StoreWriteError) as caught:
        ask(client)
    assert (caught.value.message, caught.value.upstream_status) == (MAY_NOT + role, 403)


def test_an_append_that_the_key_may_not_make_needs_the_role_write(store, client):
    store.route().respond(403)
    assert failure(client, StoreWriteError).message == f"{MAY_NOT}write"


def test_a_key_that_is_not_known_is_told_without_a_role(store, client):
    store.route().respond(401)
    message = "the store refuses the key (401): check RUVECTOR_API_KEY"
    assert failure(client, StoreWriteError).message == message
    with pytest.raises(StoreWriteError, match=r"check RUVECTOR_API_KEY$"):
        client.reads.stats()


@pytest.mark.parametrize(
    ("status", "body", "with_a_key", "without"),
    [
        (200, b'{"sessions":1}', "accepted", "accepted"),
        (200, b"<html>sign in</html>", "not a store", "not a store"),
        (200, b"[]", "not a store", "not a store"),
        (200, b"", "not a store", "not a store"),
        (204, b"", "unknown", "unknown"),
        (302, b"", "unknown", "unknown"),
        (401, b"{}", "refused", "refused"),
        (403, b"{}", "cannot read", "refused"),
        (404, b"{}", "unknown", "unknown"),
        (429, b"{}", "unknown", "unknown"),
        (500, b"{}", "unknown", "unknown"),
        (503, b"{}", "unknown", "unknown"),
    ],
)
def test_the_key_is_asked_for_once_and_the_status_says_what_it_is(store, waits, status, body, with_a_key, without):
    route = store.get(STATS).respond(status, content=body)
    for key, state in (("key", with_a_key), (None, without)):
        client = store_client(BASE, waits, transport=httpx.MockTransport(store.handler), api_key=key)
        assert client.key_state(timeout_s=1) == state
    assert route.call_count == 2
    assert waits.asked == []


def test_of_a_store_that_is_down_silent_or_long_winded_nothing_is_known(client_of, waits):
    def application(environ, start_response):
        start_response("200 OK", [])
        return [b" " * (MAX_READ_BYTES + 1)]

    assert client_of(f"http://127.0.0.1:{closed_port()}").key_state(timeout_s=1) == "unknown"
    long_winded = EmbeddedTransport(application, close_store=lambda: None)
    assert store_client(BASE, waits, transport=long_winded).key_state(timeout_s=1) == "not a store"
    with Peer(silence()) as peer:
        started = time.monotonic()
        assert client_of(peer.url).key_state(timeout_s=0.2) == "unknown"
        assert time.monotonic() - started < 2
        assert len(peer.received) == 1
