"""What the tests ask of a transport or a client, and how they look at what comes of it."""

import time

import pytest

from agent.errors import AgentError
from agent.ruvector.address import address_of
from agent.ruvector.client import RuvectorClient
from agent.ruvector.exchange import Answer, Request
from agent.ruvector.request_head import HeadStart
from agent.ruvector.transport import KeepAliveTransport
from tests.ruvector.fakes import BODY, KEY
from tests.ruvector.peer import Peer


def get(
    transport: KeepAliveTransport,
    url: str,
    method: str = "GET",
    *,
    body: bytes = b"",
    deadline: float | None = None,
    connect_deadline: float | None = None,
    max_body: int = 64 * 1024 * 1024,
) -> Answer:
    """The answer to one request, for which there are ten seconds unless a ``deadline`` is given."""
    deadline = time.monotonic() + 10 if deadline is None else deadline
    address = address_of(url)
    target = address.path or "/"
    fields = [(b"Host", address.authority.encode()), (b"Content-Length", b"%d" % len(body))]
    head = HeadStart.of(method, target, fields).whole()
    return transport.exchange(
        Request(address, method, target, head, body, max_body),
        connect_deadline=deadline if connect_deadline is None else connect_deadline,
        deadline=deadline,
    )


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
