"""The function behind a queue in a real host, deployed for HTTP and for CloudEvents: the same answers in both."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.hostile_bodies import ACCEPTED, REFUSED
from tests.capture.events.envelopes import ENVELOPES, Posted, event, pubsub, structured
from tests.leak_watch import SECRET
from tests.live.host import FunctionHost, Reply, StubStore, function_host, stub_store
from tests.live.payloads import encoded, own_session
from tests.live.raw import exchange
from tests.published import check_response

pytestmark = pytest.mark.slow

MEMORY_MIB = 256


@pytest.fixture(scope="module")
def store() -> Iterator[StubStore]:
    with stub_store() as store:
        yield store


@pytest.fixture(scope="module", params=["http", "cloudevent"])
def function(request: pytest.FixtureRequest, store: StubStore, tmp_path_factory: Any) -> Iterator[FunctionHost]:
    folder = tmp_path_factory.mktemp("queue")
    variables = {"FUNCTION_SIGNATURE_TYPE": request.param, "RUVECTOR_DEADLINE_S": "2"}
    with function_host(folder, store=store.url, target="capture_event", **variables) as host:
        yield host


@pytest.fixture
def client(function: FunctionHost, store: StubStore) -> Iterator[httpx.Client]:
    store.reply = lambda _count: Reply()
    with httpx.Client(base_url=function.url, timeout=30, event_hooks={"response": [check_response]}) as client:
        yield client


def post(client: httpx.Client, posted: Posted, path: str = "/") -> httpx.Response:
    return client.post(f"{path}?{posted.query}", content=posted.body, headers=posted.headers)


@pytest.mark.parametrize("name", ENVELOPES)
def test_every_envelope_is_captured(client: httpx.Client, store: StubStore, name: str) -> None:
    payload = own_session()
    answer = post(client, ENVELOPES[name](encoded(payload)), "/push")
    assert (answer.status_code, answer.json()["success"]) == (200, True)
    assert store.writes[-1].envelope["payload"]["inputs"] == payload
    assert answer.headers["X-Execution-Ref"] == store.writes[-1].envelope["runId"]


def test_what_is_refused_is_told_in_typed_json_without_a_word_of_it(
    client: httpx.Client, function: FunctionHost
) -> None:
    refused = [
        Posted(SECRET.encode(), {"ce-note": SECRET, "Content-Type": "text/plain"}),
        Posted(event(data={"a": SECRET}), {"Content-Type": "application/cloudevents+json"}),
        Posted(f'[{{"a":"{SECRET}"}}]'.encode(), {"Content-Type": "application/cloudevents-batch+json"}),
        Posted(event(specversion=SECRET, data={}), {}),
        pubsub(f'{{"a":"{SECRET}"}}'.encode()),
        pubsub(b"{}", format=SECRET),
    ]
    for posted in refused:
        answer = post(client, posted)
        assert (answer.status_code, answer.headers["Content-Type"]) == (400, "application/json")
        assert answer.json()["error"]["error_code"] == "VALIDATION_ERROR"
        assert SECRET not in answer.text
        assert SECRET not in str(answer.headers)
    assert SECRET not in function.log


def test_a_store_that_fails_has_the_queue_come_again(client: httpx.Client, store: StubStore) -> None:
    store.reply = lambda _count: Reply(503, b"{}", {"Retry-After": "60"})
    gone = post(client, pubsub(encoded(own_session())))
    assert (gone.status_code, gone.headers["Retry-After"]) == (502, "60")
    store.reply = lambda _count: Reply(429, b"{}", {"Retry-After": "60"})
    busy = post(client, pubsub(encoded(own_session())))
    assert (busy.status_code, busy.headers["Retry-After"]) == (503, "60")
    assert busy.json()["error"]["error_code"] == "RATE_LIMIT_EXCEEDED"
    store.reply = lambda _count: Reply(401, b"{}")
    assert post(client, pubsub(encoded(own_session()))).status_code == 502


def test_health_and_the_description_are_there_and_no_page_of_the_hosts(client: httpx.Client) -> None:
    health = client.get("/health")
    assert (health.status_code, health.json()["status"]) == (200, "ok")
    assert client.get("/openapi.json").json()["info"]["title"] == "Conversation memory: the capture behind a queue"
    assert client.head("/health").content == b""
    for method, path in (("GET", "/"), ("PUT", "/x"), ("GET", "/robots.txt"), ("POST", "/health")):
        answer = client.request(method, path)
        assert (answer.status_code, answer.json()["success"]) == (405, False), path


def test_what_is_no_http_is_answered_in_typed_json(function: FunctionHost) -> None:
    status, headers, body = exchange(function.port, f"{SECRET} / NONSENSE\r\n\r\n".encode())
    assert (status, headers["content-type"], json.loads(body)["success"]) == (400, "application/json", False)
    assert SECRET.encode() not in body


@pytest.mark.parametrize("coding", ["content-length", "chunked"])
def test_a_delivery_that_is_too_large_is_refused_and_the_next_one_is_captured(
    client: httpx.Client, coding: str
) -> None:
    body = pubsub(b"x" * (12 * 2**20)).body
    assert len(body) > 15 * 2**20
    pieces = (body[place : place + 65536] for place in range(0, len(body), 65536))
    answer = client.post("/", content=body if coding == "content-length" else pieces)
    assert (answer.status_code, answer.json()["error"]["details"]["errors"][0]["rule"]) == (413, "size")
    assert post(client, pubsub(encoded(own_session()))).status_code == 200


# The most that any of benchmarks/hostile_bodies takes in this envelope, and the costliest of those refused.
HARDEST = [
    (pubsub, "openai-chat, a text in parts with an emoji"),
    (structured, "openai-chat, a text in parts with an emoji"),
    (pubsub, "a syntax error in the last byte"),
]


@pytest.mark.parametrize(("envelope", "name"), HARDEST)
def test_a_payload_of_ten_mebibytes_takes_no_more_than_the_functions_memory(
    store: StubStore, tmp_path: Path, envelope: Any, name: str
) -> None:
    [body] = [body for body in ACCEPTED + REFUSED if body.name == name]
    posted = envelope(body.make(), **({"format": "openai-chat"} if body.query else {}))
    store.reply = lambda _count: Reply()
    with function_host(tmp_path, store=store.url, target="capture_event", FUNCTION_SIGNATURE_TYPE="cloudevent") as host:
        answer = httpx.post(host.url, content=posted.body, headers=posted.headers, timeout=60)
        [worker] = host.workers()
        peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{worker}/status").read_text())
    store.writes.clear()
    assert answer.status_code == (200 if body in ACCEPTED else 400)
    assert peak is not None
    assert int(peak[1]) / 1024 < MEMORY_MIB
