"""A thousand connections at once: some say nothing, some all that they have to say."""

from __future__ import annotations

import resource
import select
import socket
import time
from contextlib import ExitStack

MANY = 1000
_WAIT_S = 60.0


def allow_descriptors(count: int) -> None:
    """Let this process have ``count`` descriptors more than a shell gives it, where it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + 256
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))


def connected(stack: ExitStack, port: int, count: int = MANY, sent: bytes = b"") -> list[socket.socket]:
    """So many connections, each of which has ``sent``, until ``stack`` ends."""
    made = []
    for _ in range(count):
        connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=_WAIT_S))
        connection.sendall(sent)
        made.append(connection)
    return made


def statuses(connections: list[socket.socket]) -> dict[str, int]:
    """What each was answered: a status, or "closed", or "open" after a minute."""
    left = {connection.fileno(): connection for connection in connections}
    watch = select.poll()
    for descriptor in left:
        watch.register(descriptor, select.POLLIN)
    counted: dict[str, int] = {}
    end = time.monotonic() + _WAIT_S
    while left and time.monotonic() < end:
        for descriptor, _ in watch.poll(1000):
            connection = left.pop(descriptor)
            watch.unregister(descriptor)
            said = _first_line(connection)
            counted[said] = counted.get(said, 0) + 1
    if left:
        counted["open"] = len(left)
    return counted


def _first_line(connection: socket.socket) -> str:
    try:
        received = connection.recv(1 << 16)
    except OSError:
        return "closed"
    return received.split(b" ")[1].decode() if received else "closed"
