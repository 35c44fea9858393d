"""The idle keep-alive connections of a transport: which may be used again, and how many are kept for how long."""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import Final

from agent.ruvector.connection import Clock, Connection

MAX_IDLE_S: Final = 30.0
MAX_IDLE_CONNECTIONS: Final = 64

# Scheme, host and port, as RFC 6454 has it: connections of one origin stand in for each other.
Origin = tuple[str, str, int]


class ConnectionPool:
    """Thread-safe. The connection used last is used first, so that the others grow old and go."""

    def __init__(self, *, clock: Clock, max_idle_s: float) -> None:
        self._clock = clock
        self._max_idle_s = max_idle_s
        self._lock = Lock()
        self._idle: dict[Origin, deque[Connection]] = {}
        self._closed = False

    def take(self, origin: Origin) -> Connection | None:
        """An idle connection that is neither too old nor stale, no longer in the pool; None if there is none."""
        while True:
            with self._lock:
                idle = self._idle.get(origin)
                if not idle:
                    return None
                connection = idle.pop()
            if self._clock() - connection.idle_since <= self._max_idle_s and not connection.is_stale():
                return connection
            connection.close()

    def keep(self, origin: Origin, connection: Connection) -> None:
        """Put a connection back, in place of the oldest if there are too many; a closed pool closes it."""
        connection.idle_since = self._clock()
        surplus: Connection | None = connection
        with self._lock:
            if not self._closed:
                idle = self._idle.setdefault(origin, deque())
                idle.append(connection)
                surplus = idle.popleft() if len(idle) > MAX_IDLE_CONNECTIONS else None
        if surplus is not None:
            surplus.close()

    def drop(self, origin: Origin) -> None:
        """Close the idle connections of ``origin``."""
        with self._lock:
            dropped = self._idle.pop(origin, deque())
        for connection in dropped:
            connection.close()

    def close(self) -> None:
        """Close all idle connections, and from now on each that is put back."""
        with self._lock:
            self._closed = True
            origins = list(self._idle)
        for origin in origins:
            self.drop(origin)
