"""One keep-alive connection of the load generator."""

from __future__ import annotations

import socket
import time


class Connection:
    """Has at most one request on its way. ``due`` is the instant from which the latency of that one counts."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.peer = self._connect()
        self.request = b""
        self.due = 0.0
        self.received: list[bytes] = []
        self.missing = -1
        self.reconnects = 0

    def _connect(self) -> socket.socket:
        peer = socket.create_connection(("127.0.0.1", self.port))
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return peer

    def send(self, request: bytes, due: float | None = None) -> None:
        """Send ``request``, which was ``due`` at that instant of ``time.perf_counter``; now where none is given."""
        self.request, self.received, self.missing = request, [], -1
        self.due = time.perf_counter() if due is None else due
        self.peer.sendall(request)

    def receive(self) -> int:
        """Read what is there: the status once the answer is complete, 0 before that, -1 where the host hung up."""
        try:
            data = self.peer.recv(1 << 18)
        except ConnectionError:
            return -1
        if not data:
            return -1
        self.received.append(data)
        if self.missing < 0:
            head = b"".join(self.received)
            end = head.find(b"\r\n\r\n")
            if end < 0:
                return 0
            at = head.find(b"Content-Length: ", 0, end) + 16
            self.missing = int(head[at : head.find(b"\r\n", at)]) - (len(head) - end - 4)
        else:
            self.missing -= len(data)
        if self.missing > 0:
            return 0
        self.request = b""
        return int(self.received[0][9:12])

    def again(self) -> None:
        """Connect anew, and send what was on its way once more: a host may close an idle connection."""
        self.peer.close()
        self.peer = self._connect()
        self.reconnects += 1
        if self.request:
            self.send(self.request, self.due)
