"""Clients that are slow on purpose: each sends a beginning, then a byte now and then, or reads no answer."""

from __future__ import annotations

import re
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

# Longer than any deadline of ours, with room for a busy machine: 10 s of a head or body, 30 of an answer.
PATIENCE_S: Final = 60.0
_DEAF_S: Final = 32.0
_BETWEEN_S: Final = 0.5
_STATUS: Final = re.compile(rb"HTTP/1\.1 (\d{3}) ")
_LAST: Final = b"GET /openapi.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
_GZIP_WITH_A_NAME: Final = b"\x1f\x8b\x08\x08" + bytes(6)


class Slow(NamedTuple):
    """An attack of ``count`` connections: what each sends at once, and what it goes on sending bit by bit."""

    name: str
    count: int
    beginning: bytes
    drip: bytes = b""
    # It reads nothing until nobody may be waiting for it any more.
    is_deaf: bool = False


class Ended(NamedTuple):
    """How the connections ended: the statuses that they were answered with, "closed", and "open" after all patience."""

    how: dict[str, int]
    longest_s: float


def slow_clients(path: str) -> list[Slow]:
    """Everything slow that is sent to a ``path`` that takes a body."""
    post = f"POST {path} HTTP/1.1\r\nHost: a\r\n".encode()
    large = post + b"Content-Length: 1000000\r\n"
    return [
        Slow("connects and says nothing", 64, b""),
        Slow("half a request line", 32, b"POS"),
        Slow("half a head", 32, post + b"X-A: b"),
        Slow("a head, a byte now and then", 32, post + b"X-A: ", b"a"),
        Slow("a head, a header now and then", 32, post, b"X-A: b\r\n"),
        Slow("no body", 32, post + b"Content-Length: 100\r\n\r\n"),
        Slow("a small body, a byte now and then", 32, post + b"Content-Length: 100\r\n\r\n", b" "),
        Slow("half a request behind a whole one", 16, _get("/openapi.json") + post + b"X-A: b"),
        Slow("half a body behind a whole request", 16, _get("/openapi.json") + post + b"Content-Length: 9\r\n\r\n{"),
        Slow("a large body, a byte now and then", 8, large + b"\r\n", b" "),
        Slow("gzip, a byte now and then", 8, large + b"Content-Encoding: gzip\r\n\r\n" + _GZIP_WITH_A_NAME, b"n"),
        Slow("chunks, one now and then", 8, post + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        Slow("a chunk size without end", 8, post + b"Transfer-Encoding: chunked\r\n\r\n1", b"0"),
        Slow("refused, and goes on sending", 8, b"POST /nowhere HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n", b" "),
        Slow("asks much and reads nothing", 16, _get("/openapi.json") * 200 + _LAST, is_deaf=True),
    ]


@contextmanager
def attacking(port: int, attack: Slow) -> Iterator[Callable[[], Ended]]:
    """Connect, and go on until all connections have ended or patience has: the callable waits for that."""
    ended: list[tuple[str, float]] = []
    threads = [threading.Thread(target=_one, args=(port, attack, ended), daemon=True) for _ in range(attack.count)]
    for thread in threads:
        thread.start()

    def wait() -> Ended:
        for thread in threads:
            thread.join(PATIENCE_S + 10)
        how: dict[str, int] = {}
        for what, _ in ended:
            how[what] = how.get(what, 0) + 1
        return Ended(how, max(seconds for _, seconds in ended))

    yield wait


def _get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode()


def _one(port: int, attack: Slow, ended: list[tuple[str, float]]) -> None:
    began = time.monotonic()
    received = bytearray()
    is_over = False
    with socket.socket() as connection:
        if attack.is_deaf:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(PATIENCE_S)
        try:
            connection.connect(("127.0.0.1", port))
            connection.sendall(attack.beginning)
            while not is_over and time.monotonic() - began < PATIENCE_S:
                if attack.drip:
                    connection.sendall(attack.drip)
                is_over = _waited(connection, attack, received)
        except OSError:
            is_over = True
    ended.append((_how(bytes(received)) if is_over else "open", time.monotonic() - began))


def _waited(connection: socket.socket, attack: Slow, received: bytearray) -> bool:
    """Whether the server has closed; what it says is read, by who reads nothing when it is too late."""
    if attack.is_deaf and not received:
        threading.Event().wait(_DEAF_S)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    # Not select: a run against four servers has more descriptors than it can look at.
    watch = select.poll()
    watch.register(connection, select.POLLIN)
    if not watch.poll(_BETWEEN_S * 1000):
        return False
    piece = connection.recv(1 << 16)
    received += piece
    return not piece


def _how(received: bytes) -> str:
    # Of pipelined answers the last: a body of JSON has no line end before the next status line.
    statuses = _STATUS.findall(received)
    return statuses[-1].decode() if statuses else "closed"
