"""Posts prebuilt requests over keep-alive connections, in a process of its own.

One command a line on stdin, one result a line on stdout (``{"elapsed_s", "cpu_s", "statuses", "p50_s", "p99_s",
"reconnects"}``). A command is ``{"port", "path", "connections", "count", "seed", "what", "headers", "per_second"}``;
``what`` is ``capture``, or ``write`` for the write of one. Without ``per_second`` each connection posts as fast as it
is answered (a closed loop). With it requests are due at fixed instants, evenly spaced, whatever comes back (an open
loop), and a latency counts from the instant at which its request was due: a host that stalls delays what comes after,
and that is counted too.

Requests are built before the clock starts; one thread serves all connections, so that little is taken from the host.
"""

from __future__ import annotations

import json
import select
import sys
import time
from collections import Counter, deque
from typing import Any

from benchmarks.load_connection import Connection
from benchmarks.payloads import Variations, compact, conversation


def requests(command: dict[str, Any]) -> list[bytes]:
    """As many whole HTTP requests as ``command`` says, each a capture under ids of its own, or the write of one."""
    bodies = Variations(compact(conversation()), command["seed"]).many(command["count"])
    if command["what"] == "write":
        # The agent's own code, which nobody needs who posts captures.
        from benchmarks.envelopes import Envelopes

        envelopes = Envelopes()
        bodies = [envelopes.of(body) for body in bodies]
    fields = {"Host": "127.0.0.1", "Content-Type": "application/json", **command["headers"]}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    head = f"POST {command['path']} HTTP/1.1\r\n{lines}Content-Length: "
    return [f"{head}{len(body)}\r\n\r\n".encode() + body for body in bodies]


class Load:
    """The connections of one command, what is still to be sent, and what came back."""

    def __init__(self, command: dict[str, Any]) -> None:
        self._waiting = requests(command)
        self._poll = select.epoll()
        self._connections: dict[int, Connection] = {}
        self._free: deque[Connection] = deque()
        self.count = len(self._waiting)
        self.statuses: Counter[int] = Counter()
        self.latencies: list[float] = []
        for _ in range(min(command["connections"], self.count)):
            self._add(Connection(command["port"]))
        self._free.extend(self._connections.values())

    def closed(self) -> None:
        """Each connection posts as soon as it is answered."""
        while len(self.latencies) < self.count:
            while self._free and self._waiting:
                self._free.popleft().send(self._waiting.pop())
            self._receive(None)

    def opened(self, per_second: float) -> None:
        """A request every ``1 / per_second`` seconds; one that finds every connection busy waits for the first."""
        started = time.perf_counter()
        sent = 0
        while len(self.latencies) < self.count:
            left = None
            while self._waiting:
                due = started + sent / per_second
                left = due - time.perf_counter()
                if left > 0 or not self._free:
                    break
                # The longest idle first: a host closes what is idle for seconds.
                self._free.popleft().send(self._waiting.pop(), due)
                sent += 1
            self._receive(left if self._waiting and self._free else None)

    def close(self) -> int:
        """Close the connections; how often the host had closed one."""
        for connection in self._connections.values():
            connection.peer.close()
        self._poll.close()
        return sum(connection.reconnects for connection in self._connections.values())

    def _receive(self, timeout_s: float | None) -> None:
        """Take what has come; wait for it, for ``timeout_s`` seconds at most."""
        # epoll counts in milliseconds, and a capture takes not many more: select counts in microseconds.
        if timeout_s is not None and not select.select([self._poll], [], [], max(0.0, timeout_s))[0]:
            return
        for number, _ in self._poll.poll():
            connection = self._connections[number]
            status = connection.receive()
            if status > 0:
                self.statuses[status] += 1
                self.latencies.append(time.perf_counter() - connection.due)
                self._free.append(connection)
            elif status < 0:
                self._poll.unregister(number)
                del self._connections[number]
                connection.again()
                self._add(connection)

    def _add(self, connection: Connection) -> None:
        self._connections[connection.peer.fileno()] = connection
        self._poll.register(connection.peer, select.EPOLLIN)


def run(command: dict[str, Any]) -> dict[str, Any]:
    """Carry out one command."""
    load = Load(command)
    started, cpu_started = time.perf_counter(), time.process_time()
    if command["per_second"] is None:
        load.closed()
    else:
        load.opened(command["per_second"])
    elapsed, cpu = time.perf_counter() - started, time.process_time() - cpu_started
    latencies = sorted(load.latencies)
    return {
        "elapsed_s": elapsed,
        "cpu_s": cpu,
        "statuses": load.statuses,
        "p50_s": latencies[len(latencies) // 2],
        "p99_s": latencies[len(latencies) * 99 // 100],
        "reconnects": load.close(),
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)
