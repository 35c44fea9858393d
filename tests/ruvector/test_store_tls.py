"""TLS to the store: trusted, untrusted, of another name, silent, and kept alive."""

import socket
import ssl
import time

import pytest

from agent.errors import StoreConnectionError
from agent.ruvector.transport import KeepAliveTransport
from tests.ruvector.fakes import BODY, KEY
from tests.ruvector.peer import Peer, acknowledge, answer, close_without_answer, drip, silence


def test_appends_share_one_tls_connection(client_of, trusting, server):
    with Peer(acknowledge(), tls=server) as peer:
        client = client_of(peer.url, transport=trusting)
        for _ in range(3):
            assert client.append(BODY, idempotency_key=KEY).event_id == "e-1"
        assert peer.connections == 1
        assert {request.body for request in peer.received} == {BODY}


def test_a_long_exchange_over_tls_arrives_whole(client_of, trusting, server):
    body = b"x" * 3_000_000
    with Peer(answer(201, b'{"eventId":"' + b"e" * 255 + b'"}' + b" " * 900_000), tls=server) as peer:
        assert client_of(peer.url, transport=trusting).append(body, idempotency_key=KEY).event_id == "e" * 255
        assert peer.received[0].body == body


def test_a_tls_connection_closed_while_idle_is_not_used_again(client_of, trusting, server):
    with Peer(acknowledge(), tls=server) as peer:
        client = client_of(peer.url, transport=trusting, at_most_once=True)
        client.append(BODY, idempotency_key=KEY)
        peer.close_connections()
        client.append(BODY, idempotency_key=KEY)
        assert [request.connection for request in peer.received] == [0, 1]


def test_an_answer_lost_over_tls_is_retried(client_of, trusting, server):
    with Peer(close_without_answer(), acknowledge(), tls=server) as peer:
        assert client_of(peer.url, transport=trusting).append(BODY, idempotency_key=KEY).event_id == "e-1"
        assert len(peer.received) == 2


def failure(client) -> StoreConnectionError:
    with pytest.raises(StoreConnectionError) as caught:
        client.append(BODY, idempotency_key=KEY)
    return caught.value


def test_an_untrusted_certificate_is_a_connection_error_and_nothing_is_sent(client_of, server):
    with Peer(acknowledge(), tls=server) as peer:
        assert failure(client_of(peer.url)).details == {"attempts": 4}
        assert peer.received == []


def test_a_certificate_of_another_name_is_a_connection_error(client_of, trusting, server):
    with Peer(acknowledge(), tls=server) as peer:
        url = f"https://localhost:{peer.port}"
        assert failure(client_of(url, transport=trusting)).details == {"attempts": 4}
        assert peer.received == []


def test_a_peer_that_speaks_no_tls_is_a_connection_error(client_of, trusting):
    with Peer(acknowledge()) as peer:
        url = peer.url.replace("http:", "https:")
        # The handshake is bytes without an end of head, so the peer waits for more until the deadline.
        assert failure(client_of(url, transport=trusting, deadline_s=0.4)).details["attempts"] >= 1
        assert peer.received == []


def test_a_silent_handshake_cannot_outlive_the_deadline(client_of, trusting):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        started = time.monotonic()
        failure(client_of(url, transport=trusting, deadline_s=0.4, random=lambda: 0.0))
        assert time.monotonic() - started < 3


@pytest.mark.parametrize("step", [silence(), drip(b"HTTP/1.1 201 OK\r\nContent-Length: 900\r\n\r\n", b"x" * 900)])
def test_a_silent_or_trickling_answer_over_tls_cannot_outlive_the_deadline(client_of, trusting, server, step):
    with Peer(step, tls=server) as peer:
        started = time.monotonic()
        failure(client_of(peer.url, transport=trusting, deadline_s=0.6, random=lambda: 0.0))
        assert time.monotonic() - started < 3


def test_certificates_that_cannot_be_loaded_are_a_connection_error(client_of, waits, tmp_path):
    transport = KeepAliveTransport(
        clock=waits.clock, ssl_context=lambda: ssl.create_default_context(cafile=tmp_path / "none.pem")
    )
    with Peer(acknowledge()) as peer:
        url = peer.url.replace("http:", "https:")
        assert failure(client_of(url, transport=transport)).details == {"attempts": 4}
