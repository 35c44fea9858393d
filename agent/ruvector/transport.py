"""The client's port over own keep-alive sockets, with one total deadline for an attempt (docs/adr/0004).

The deadline is the instant of the injected clock at which all of it ends: connect, TLS, send, every receive.
Redirects are never followed and proxies never used; schemes other than http and https are refused (``address``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Final

from agent.ruvector.address import Address
from agent.ruvector.connection import Clock, Connection, connect
from agent.ruvector.exchange import Answer, Exchange, NotConnected, Request
from agent.ruvector.pool import MAX_IDLE_S, ConnectionPool

if TYPE_CHECKING:
    import ssl

# Up to here one copy is cheaper than a second packet and a second system call.
_ONE_PACKET_BYTES: Final = 256 * 1024


def _trusting_context() -> ssl.SSLContext:
    # Late: only https needs it.
    from agent.ruvector.trusted_certificates import trusting_context

    return trusting_context()


class KeepAliveTransport(Exchange):
    """Thread-safe. Idle connections are kept per origin, the newest used first, none longer than ``max_idle_s``.

    ``clock`` gives monotonic seconds; deadlines are instants of it. ``ssl_context`` is called once, on first https use.
    """

    def __init__(
        self,
        *,
        clock: Clock = time.monotonic,
        max_idle_s: float = MAX_IDLE_S,
        ssl_context: Callable[[], ssl.SSLContext] = _trusting_context,
    ) -> None:
        self._clock = clock
        self._make_ssl_context = ssl_context
        self._ssl_context: ssl.SSLContext | None = None
        self._lock = Lock()
        self._pool = ConnectionPool(clock=clock, max_idle_s=max_idle_s)

    def exchange(self, request: Request, *, connect_deadline: float, deadline: float) -> Answer:
        """Send ``request`` and return its answer, received whole.

        Raises NotConnected (nothing was sent), AnswerLost (the peer may have acted), BodyRefused (it answered), or a
        subclass of them.
        """
        message, body = request.head, request.body
        if len(body) <= _ONE_PACKET_BYTES:
            message, body = message + body, b""
        origin = request.address[:3]
        connection = self._pool.take(origin)
        reused = connection is not None
        if connection is None:
            connection = self._connect(request.address, min(deadline, connect_deadline))
        try:
            reusable = connection.exchange(
                message,
                body,
                deadline=deadline,
                head_only=request.method == "HEAD",
                max_body=request.max_body,
            )
            answer = connection.answer()
        except BaseException:
            connection.close()
            if reused:
                # The peer may have gone away between two requests: the other idle connections are as old.
                self._pool.drop(origin)
            raise
        if reusable:
            self._pool.keep(origin, connection)
        else:
            connection.close()
        return answer

    def close(self) -> None:
        """Close the idle connections, and those in use as soon as their exchange ends."""
        self._pool.close()

    def _connect(self, address: Address, deadline: float) -> Connection:
        context = self._tls() if address.scheme == "https" else None
        return connect(address.host, address.port, context=context, deadline=deadline, clock=self._clock)

    def _tls(self) -> ssl.SSLContext:
        with self._lock:
            if self._ssl_context is None:
                try:
                    self._ssl_context = self._make_ssl_context()
                except OSError as error:  # SSLError is one; so is a bundle of certificates that is not there
                    raise NotConnected("no TLS context") from error
            return self._ssl_context
