"""The embedded transport hands a request to a WSGI application as PEP 3333 says, with the time that is left."""

import io
import json
import sqlite3
import threading
import time
from datetime import UTC, datetime

import httpx
import pytest

from agent.errors import StoreConnectionError
from agent.ruvector.client import RuvectorClient
from agent.ruvector.embedded import EmbeddedTransport
from agent.ruvector.exchange import BodyRefused
from store.engines.sqlite import SqliteStore
from store.server import create_app


class Application:
    """Remembers what it was called with; answers 201 in two pieces."""

    def __init__(self):
        self.environ = {}
        self.closed = 0
        self.store_closed = 0

    def __call__(self, environ, start_response):
        self.environ = dict(environ)
        self.body = environ["wsgi.input"].read()
        start_response("201 CREATED", [("Content-Type", "application/json"), ("X-A", "1"), ("X-A", "2")])
        return Pieces(self)

    def close_store(self):
        self.store_closed += 1


class Pieces:
    def __init__(self, application):
        self._application = application

    def __iter__(self):
        return iter((b"[1,", b"2]"))

    def close(self):
        self._application.closed += 1


@pytest.fixture
def application():
    return Application()


@pytest.fixture
def client(application):
    with httpx.Client(transport=EmbeddedTransport(application, close_store=application.close_store)) as opened:
        yield opened


def test_method_path_query_headers_and_body_arrive(client, application):
    client.post(
        "http://embedded.invalid/v1/x?a=1&b=%20", content=b"body", headers={"X-Agent-Id": "me", "Content-Type": "t/t"}
    )
    environ = application.environ
    assert (environ["REQUEST_METHOD"], environ["PATH_INFO"], environ["QUERY_STRING"]) == ("POST", "/v1/x", "a=1&b=%20")
    assert (environ["HTTP_X_AGENT_ID"], environ["CONTENT_TYPE"], environ["CONTENT_LENGTH"]) == ("me", "t/t", "4")
    assert (environ["SERVER_NAME"], environ["SERVER_PORT"], environ["wsgi.url_scheme"]) == (
        "embedded.invalid",
        "80",
        "http",
    )
    assert application.body == b"body"
    assert isinstance(environ["wsgi.input"], io.BytesIO)


def test_an_escaped_path_arrives_decoded_as_latin_1_of_its_bytes(client, application):
    client.get("http://embedded.invalid/v1/%C3%A9%2Fx")
    assert application.environ["PATH_INFO"].encode("latin-1").decode() == "/v1/\u00e9/x"


def test_the_answer_comes_back_whole_and_is_closed(client, application):
    answer = client.get("http://embedded.invalid/")
    assert (answer.status_code, answer.content) == (201, b"[1,2]")
    assert answer.headers.get_list("x-a") == ["1", "2"]
    assert application.closed == 1


def test_an_answer_without_close_is_fine():
    def application(environ, start_response):
        start_response("204 NO CONTENT", [])
        return []

    transport = EmbeddedTransport(application, close_store=lambda: None)
    assert transport.handle_request(httpx.Request("GET", "http://embedded.invalid/")).status_code == 204


def test_closing_the_client_closes_the_store(client, application):
    client.close()
    assert application.store_closed == 1


def test_an_application_that_writes_past_its_answer_is_a_fault():
    def application(environ, start_response):
        start_response("200 OK", [])(b"x")
        return []

    with pytest.raises(TypeError):
        EmbeddedTransport(application, close_store=lambda: None).handle_request(
            httpx.Request("GET", "http://e.invalid/")
        )


@pytest.mark.parametrize(("left", "handed_over"), [(2.5, 2.5), (-1.0, 0.0)])
def test_the_time_that_is_left_is_handed_over(application, left, handed_over):
    transport = EmbeddedTransport(application, close_store=application.close_store, clock=lambda: 100.0)
    request = httpx.Request("GET", "http://e.invalid/", extensions={"deadline": 100.0 + left})
    transport.handle_request(request)
    assert application.environ["ruvector.timeout_s"] == handed_over


def test_without_a_deadline_nothing_is_said_of_time(client, application):
    client.get("http://e.invalid/")
    assert "ruvector.timeout_s" not in application.environ


def test_an_answer_over_the_bound_is_refused_with_its_status(application):
    transport = EmbeddedTransport(application, close_store=application.close_store)
    for bound, refused in ((5, False), (4, True)):
        request = httpx.Request("GET", "http://e.invalid/", extensions={"max_body": bound})
        if refused:
            with pytest.raises(BodyRefused) as failure:
                transport.handle_request(request)
            assert (failure.value.status, httpx.Headers(failure.value.fields)["x-a"]) == (201, "1, 2")
        else:
            assert transport.handle_request(request).read() == b"[1,2]"
    assert application.closed == 2


ENVELOPE = json.dumps({"type": "plan", "runId": "r", "timestamp": "2026-03-02T08:15:00Z", "payload": {"a": 1}}).encode()


@pytest.mark.parametrize("callers", [1, 4])
def test_a_deadline_holds_while_another_process_holds_the_database(tmp_path, callers):
    store = SqliteStore(tmp_path / "store.db", busy_timeout_s=30)
    application = create_app(store, clock=lambda: datetime(2026, 3, 2, tzinfo=UTC), new_id=lambda: "e")
    client = RuvectorClient(
        EmbeddedTransport(application, close_store=store.close),
        base_url="http://embedded.invalid",
        api_key=None,
        kind="embedded",
        deadline_s=3.0,
    )
    store.ping()
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    took = []

    def append():
        started = time.monotonic()
        with pytest.raises(StoreConnectionError):
            client.append(ENVELOPE, idempotency_key="k")
        took.append(time.monotonic() - started)

    threads = [threading.Thread(target=append) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(took) == callers
    assert max(took) < 6.0
    other.execute("ROLLBACK")
    other.close()
    assert client.append(ENVELOPE, idempotency_key="k").position == 1
    client.close()
