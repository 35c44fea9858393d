"""Which idle connections are used again, in which order, and how many are kept."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from agent.ruvector.exchange import ExchangeError, NotHttp
from agent.ruvector.transport import KeepAliveTransport
from tests.ruvector.asking import get
from tests.ruvector.peer import Exchange, Peer, close_without_answer, echo, reset, response_bytes


def test_a_connection_that_the_peer_closed_while_idle_is_not_used_again(transport):
    with Peer(echo) as peer:
        get(transport, f"{peer.url}/1")
        peer.close_connections()
        assert get(transport, f"{peer.url}/2").body == b"/2"
        assert [request.connection for request in peer.received] == [0, 1]


def test_a_connection_with_stray_bytes_is_not_used_again(transport):
    with Peer(echo) as peer:
        get(transport, f"{peer.url}/1")
        peer.send_stray_bytes(response_bytes(200, b"of nobody"))
        assert get(transport, f"{peer.url}/2").body == b"/2"
        assert [request.connection for request in peer.received] == [0, 1]


def test_a_connection_that_the_peer_reset_while_idle_is_not_used_again(transport):
    def answer_then_reset(exchange: Exchange) -> bool:
        echo(exchange)
        return reset()(exchange)

    with Peer(answer_then_reset, echo) as peer:
        get(transport, f"{peer.url}/1")
        peer.wait_until_closed(0)
        assert get(transport, f"{peer.url}/2").body == b"/2"


def test_connections_idle_for_too_long_are_not_used_again():
    now = [0.0]
    with closing(KeepAliveTransport(clock=lambda: now[0], max_idle_s=30)) as transport, Peer(echo) as peer:
        for moment in (0, 30, 61):
            now[0] = moment
            get(transport, peer.url, deadline=moment + 10)
        assert [request.connection for request in peer.received] == [0, 0, 1]


def test_the_connection_used_last_is_used_first(transport):
    both_asked = threading.Barrier(2)

    def together(exchange: Exchange) -> bool:
        both_asked.wait(10)
        return echo(exchange)

    with Peer(together, together, echo) as peer, ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: get(transport, peer.url), range(2)))
        for _ in range(3):
            get(transport, peer.url)
        assert peer.connections == 2
        assert len({request.connection for request in peer.received[2:]}) == 1


def test_when_one_idle_connection_turns_out_dead_the_others_are_dropped(transport):
    both_asked = threading.Barrier(2)

    def together(exchange: Exchange) -> bool:
        both_asked.wait(10)
        return echo(exchange)

    with Peer(together, together, close_without_answer(), echo) as peer, ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: get(transport, peer.url), range(2)))
        with pytest.raises(NotHttp):
            get(transport, peer.url)
        get(transport, peer.url)
        assert peer.received[-1].connection == 2


def test_no_more_than_64_connections_stay_idle(transport):
    all_asked = threading.Barrier(70)

    def together(exchange: Exchange) -> bool:
        all_asked.wait(20)
        return echo(exchange)

    with Peer(together) as peer, ThreadPoolExecutor(70) as threads:
        list(threads.map(lambda _: get(transport, peer.url), range(70)))
        assert peer.connections == 70
        peer.wait_until_open(64)


def test_threads_share_the_transport_and_never_get_each_others_answers(transport):
    def now_and_then_wrong(exchange: Exchange) -> bool:
        number = int(exchange.request.path.rpartition("/")[2])
        if number % 11 == 5:
            return close_without_answer()(exchange)
        if number % 13 == 7:  # a second answer to a request that nobody sent
            exchange.connection.sendall(response_bytes(200, exchange.request.path.encode()) + response_bytes(200, b"x"))
            return True
        return echo(exchange)

    def ask(thread: int) -> int:
        answered = 0
        for number in range(60):
            path = f"/{thread}/{number}"
            try:
                assert get(transport, peer.url + path).body == path.encode()
            except ExchangeError:
                assert number % 11 == 5
            else:
                answered += 1
        return answered

    with Peer(now_and_then_wrong) as peer, ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(ask, range(8))) == 8 * (60 - 5)
        assert len(peer.received) == 8 * 60


def test_a_closed_transport_keeps_no_connection(transport):
    with Peer(echo) as peer:
        get(transport, peer.url)
        transport.close()
        peer.wait_until_closed(0)
        get(transport, peer.url)
        peer.wait_until_closed(1)
