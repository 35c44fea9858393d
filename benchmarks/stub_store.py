"""A store that answers at once: what is left of a capture's cost is then the capture's own.

One thread, raw sockets, a canned 201 that carries the caller's own ``runId`` back. It keeps nothing, and reads no
more of a body than the first kilobytes. ``python -m benchmarks.stub_store`` prints its port, serves until stdin ends.
"""

from __future__ import annotations

import select
import socket
import sys

_RUN_ID = b'"runId":"'
_RECEIPT = (
    b'{"status":"accepted","eventId":"5b0a7c1e-63a1-4d3c-9a55-3f0c9d3f7a11","executionRef":"%s",'
    b'"timestamp":"2026-01-01T00:00:00.000000Z","position":1,"turns":{"new":10,"known":0,"revised":0,"erased":0}}'
)
_HEALTHY = b'{"status":"ok"}'
_KEPT = 4096


class Connection:
    """One client: how much of the request has come, and how much is still owed."""

    __slots__ = ("head", "missing", "peer")

    def __init__(self, peer: socket.socket) -> None:
        self.peer = peer
        self.head = b""
        self.missing = -1  # -1: the headers are not complete

    def receive(self) -> bool:
        """Read what is there, answer a complete request; False when the client has gone."""
        try:
            data = self.peer.recv(1 << 18)
        except ConnectionError:
            return False
        if not data:
            return False
        if self.missing >= 0:
            self.head = (self.head + data)[:_KEPT] if len(self.head) < _KEPT else self.head
            self.missing -= len(data)
        else:
            self.head += data
            end = self.head.find(b"\r\n\r\n")
            if end < 0:
                return True
            self.missing = _content_length(self.head[:end]) - (len(self.head) - end - 4)
        if self.missing <= 0:
            self.peer.sendall(_answer(self.head))
            self.head, self.missing = b"", -1
        return True


def _content_length(headers: bytes) -> int:
    lowered = headers.lower()
    at = lowered.find(b"content-length:")
    if at < 0:
        return 0
    return int(lowered[at + 15 :].split(b"\r\n", 1)[0])


def _answer(request: bytes) -> bytes:
    if request.startswith(b"POST"):
        at = request.find(_RUN_ID) + len(_RUN_ID)
        status, body = b"201 Created", _RECEIPT % request[at : at + 36]
    else:
        status, body = b"200 OK", _HEALTHY
    return b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)


def serve(listener: socket.socket) -> None:
    """Serve until stdin ends."""
    poll = select.epoll()
    poll.register(listener, select.EPOLLIN)
    poll.register(sys.stdin, select.EPOLLIN)
    connections: dict[int, Connection] = {}
    while True:
        for number, _ in poll.poll():
            if number == listener.fileno():
                peer, _ = listener.accept()
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connections[peer.fileno()] = Connection(peer)
                poll.register(peer, select.EPOLLIN)
            elif number == sys.stdin.fileno():
                return
            elif not connections[number].receive():
                poll.unregister(number)
                connections.pop(number).peer.close()


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server:
        print(server.getsockname()[1], flush=True)
        serve(server)
