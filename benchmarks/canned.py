"""A server that answers at once, whatever is sent: what is left of a request's cost is then the sender's own.

One thread, raw sockets. It keeps nothing, and holds no more of a body than the first kilobytes.
"""

from __future__ import annotations

import select
import socket
import sys
from collections.abc import Callable

# What makes the answer of a request, of which it sees the first kilobytes and how many bytes its body had.
Answer = Callable[[bytes, int], bytes]
_KEPT = 4096


class Connection:
    """One client: how much of the request has come, and how much is still owed."""

    __slots__ = ("_answer", "body_size", "head", "missing", "peer")

    def __init__(self, peer: socket.socket, answer: Answer) -> None:
        self.peer = peer
        self._answer = answer
        self.head = b""
        self.body_size = 0
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
            self.body_size = _content_length(self.head[:end])
            self.missing = self.body_size - (len(self.head) - end - 4)
        if self.missing <= 0:
            self.peer.sendall(self._answer(self.head, self.body_size))
            self.head, self.missing = b"", -1
        return True


def response(status: bytes, body: bytes, content_type: bytes = b"application/json") -> bytes:
    """A whole response, such as of ``200 OK``."""
    return b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (status, content_type, len(body), body)


def serve(answer: Answer) -> None:
    """Listen on a free port of loopback, print it, and serve until stdin ends."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        print(listener.getsockname()[1], flush=True)
        _serve(listener, answer)


def _serve(listener: socket.socket, answer: Answer) -> None:
    poll = select.epoll()
    poll.register(listener, select.EPOLLIN)
    poll.register(sys.stdin, select.EPOLLIN)
    connections: dict[int, Connection] = {}
    while True:
        for number, _ in poll.poll():
            if number == listener.fileno():
                peer, _ = listener.accept()
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connections[peer.fileno()] = Connection(peer, answer)
                poll.register(peer, select.EPOLLIN)
            elif number == sys.stdin.fileno():
                return
            elif not connections[number].receive():
                poll.unregister(number)
                connections.pop(number).peer.close()


def _content_length(headers: bytes) -> int:
    lowered = headers.lower()
    at = lowered.find(b"content-length:")
    if at < 0:
        return 0
    return int(lowered[at + 15 :].split(b"\r\n", 1)[0])
