"""What the tests ask of a transport or a client, and how they look at what comes of it."""

import time

import httpx
import pytest

from agent.errors import AgentError
from agent.ruvector.client import RuvectorClient
from agent.ruvector.transport import KeepAliveTransport
from tests.ruvector.fakes import BODY, KEY
from tests.ruvector.peer import Peer


def get(transport: KeepAliveTransport, url: str, method: str = "GET", **extensions: object) -> httpx.Response:
    extensions.setdefault("deadline", time.monotonic() + 10)
    response = transport.handle_request(httpx.Request(method, url, extensions=extensions))
    response.read()
    return response


def failure(client: RuvectorClient, kind: type[AgentError], body: bytes = BODY) -> AgentError:
    """The error of an append, which is of this very class."""
    with pytest.raises(kind) as caught:
        client.append(body, idempotency_key=KEY)
    assert type(caught.value) is kind
    return caught.value


def assert_each_attempt_was_the_same(peer: Peer) -> None:
    assert {request.body for request in peer.received} == {BODY}
    assert {request.headers["idempotency-key"] for request in peer.received} == {KEY}
    assert {(request.method, request.path) for request in peer.received} == {("POST", "/v1/decision-events")}
