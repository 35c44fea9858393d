"""Posts prebuilt captures over keep-alive connections as fast as they are answered, in a process of its own.

One command a line on stdin (``{"port", "path", "connections", "count", "seed"}``), one result a line on stdout
(``{"elapsed_s", "cpu_s", "statuses", "p50_s", "p99_s", "reconnects"}``). Payloads, headers included, are built before
the clock starts; one thread serves all connections, so that little is taken from the host it measures.
"""

from __future__ import annotations

import json
import select
import socket
import sys
import time
from collections import Counter
from typing import Any

from benchmarks.payloads import Variations, compact, conversation


class Connection:
    """One keep-alive connection with at most one request on its way."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.peer = self._connect()
        self.request = b""
        self.sent_at = 0.0
        self.received: list[bytes] = []
        self.missing = -1
        self.reconnects = 0

    def _connect(self) -> socket.socket:
        peer = socket.create_connection(("127.0.0.1", self.port))
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return peer

    def send(self, request: bytes) -> None:
        self.request, self.received, self.missing = request, [], -1
        self.sent_at = time.perf_counter()
        self.peer.sendall(request)

    def receive(self) -> int:
        """Read what is there: the status once the answer is complete, 0 before that, -1 where the host hung up."""
        data = self.peer.recv(1 << 18)
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
        return 0 if self.missing > 0 else int(self.received[0][9:12])

    def again(self) -> None:
        """Connect anew and send the same request: a host may close an idle connection."""
        self.peer.close()
        self.peer = self._connect()
        self.reconnects += 1
        self.send(self.request)


def requests(path: str, count: int, seed: int) -> list[bytes]:
    """``count`` whole HTTP requests, each a capture under ids of its own."""
    bodies = Variations(compact(conversation()), seed).many(count)
    head = "POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
    return [head.format(path, len(body)).encode() + body for body in bodies]


def run(command: dict[str, Any]) -> dict[str, Any]:
    """Carry out one command."""
    waiting = requests(command["path"], command["count"], command["seed"])
    poll = select.epoll()
    connections = {}
    for _ in range(min(command["connections"], len(waiting))):
        connection = Connection(command["port"])
        connections[connection.peer.fileno()] = connection
        poll.register(connection.peer, select.EPOLLIN)
    statuses: Counter[int] = Counter()
    latencies: list[float] = []
    started, cpu_started = time.perf_counter(), time.process_time()
    for connection in connections.values():
        connection.send(waiting.pop())
    while len(latencies) < command["count"]:
        for number, _ in poll.poll():
            connection = connections[number]
            status = connection.receive()
            if status > 0:
                statuses[status] += 1
                latencies.append(time.perf_counter() - connection.sent_at)
                if waiting:
                    connection.send(waiting.pop())
            elif status < 0:
                poll.unregister(number)
                del connections[number]
                connection.again()
                connections[connection.peer.fileno()] = connection
                poll.register(connection.peer, select.EPOLLIN)
    elapsed, cpu = time.perf_counter() - started, time.process_time() - cpu_started
    reconnects = sum(connection.reconnects for connection in connections.values())
    for connection in connections.values():
        connection.peer.close()
    poll.close()
    latencies.sort()
    return {
        "elapsed_s": elapsed,
        "cpu_s": cpu,
        "statuses": statuses,
        "p50_s": latencies[len(latencies) // 2],
        "p99_s": latencies[len(latencies) * 99 // 100],
        "reconnects": reconnects,
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)
