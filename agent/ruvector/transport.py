"""An ``httpx`` transport over own keep-alive sockets that holds one total deadline for an attempt.

``request.extensions["deadline"]`` is the instant of the injected clock at which the whole attempt ends (connect, TLS,
send, every receive); ``"connect_deadline"`` may bound connecting more narrowly, ``"max_body"`` bounds the answer.
httpx's own transport has no total timeout, and costs several times as much processor time (docs/adr/0004).

Redirects are never followed and proxies never used; schemes other than http and https are refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Final

import httpx

from agent.ruvector.connection import Clock, Connection, connect
from agent.ruvector.pool import MAX_IDLE_S, ConnectionPool, Origin

if TYPE_CHECKING:
    import ssl

_DEFAULT_TIMEOUT_S: Final = 20.0
_DEFAULT_MAX_BODY: Final = 64 * 1024 * 1024
# Up to here one copy is cheaper than a second packet and a second system call.
_ONE_PACKET_BYTES: Final = 256 * 1024
_DEFAULT_PORTS: Final = {b"http": 80, b"https": 443}
_METHODS_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})


class KeepAliveTransport(httpx.BaseTransport):
    """Thread-safe. Idle connections are kept per origin, the newest used first, none longer than ``max_idle_s``.

    ``clock`` gives monotonic seconds; deadlines are instants of it. ``ssl_context`` is called once, on first https use.
    """

    def __init__(
        self,
        *,
        clock: Clock = time.monotonic,
        max_idle_s: float = MAX_IDLE_S,
        ssl_context: Callable[[], ssl.SSLContext] = httpx.create_ssl_context,
    ) -> None:
        self._clock = clock
        self._make_ssl_context = ssl_context
        self._ssl_context: ssl.SSLContext | None = None
        self._lock = Lock()
        self._pool = ConnectionPool(clock=clock, max_idle_s=max_idle_s)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send ``request`` and return its response, received whole.

        Raises ConnectError, ConnectTimeout (nothing was sent), WriteTimeout, ReadError, ReadTimeout,
        RemoteProtocolError (the peer may have acted), BodyRefused (it answered), LocalProtocolError and
        UnsupportedProtocol (the request is wrong), all of httpx or subclasses.
        """
        body = request.read()
        message = _head(request, len(body))
        if len(body) <= _ONE_PACKET_BYTES:
            message, body = message + body, b""
        origin = _origin(request.url)
        extensions = request.extensions
        deadline = extensions.get("deadline")
        if deadline is None:
            deadline = self._clock() + _DEFAULT_TIMEOUT_S
        connection = self._pool.take(origin)
        reused = connection is not None
        if connection is None:
            connection = self._connect(origin, min(deadline, extensions.get("connect_deadline", deadline)))
        try:
            reusable = connection.exchange(
                message,
                body,
                deadline=deadline,
                head_only=request.method == "HEAD",
                max_body=extensions.get("max_body", _DEFAULT_MAX_BODY),
            )
            response = connection.response()
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
        return response

    def close(self) -> None:
        """Close the idle connections, and those in use as soon as their exchange ends."""
        self._pool.close()

    def _connect(self, origin: Origin, deadline: float) -> Connection:
        scheme, host, port = origin
        context = self._tls() if scheme == b"https" else None
        return connect(host.decode("ascii"), port, context=context, deadline=deadline, clock=self._clock)

    def _tls(self) -> ssl.SSLContext:
        with self._lock:
            if self._ssl_context is None:
                try:
                    self._ssl_context = self._make_ssl_context()
                except OSError as error:  # SSLError is one; so is a bundle of certificates that is not there
                    raise httpx.ConnectError("no TLS context") from error
            return self._ssl_context


def _origin(url: httpx.URL) -> Origin:
    scheme = url.raw_scheme
    if scheme not in _DEFAULT_PORTS or not url.raw_host:
        raise httpx.UnsupportedProtocol("only http and https URLs with a host")
    return scheme, url.raw_host, url.port or _DEFAULT_PORTS[scheme]


def _head(request: httpx.Request, body_size: int) -> bytes:
    """Request line and header section (RFC 9112 2), framed by Content-Length whatever the request says of framing."""
    lines = [b"%b %b HTTP/1.1" % (request.method.encode("ascii"), request.url.raw_path)]
    has_host = False
    for name, value in request.headers.raw:
        lowered = name.lower()
        if lowered in (b"content-length", b"transfer-encoding"):
            continue
        has_host = has_host or lowered == b"host"
        lines.append(b"%b: %b" % (name, value))
    if not has_host:
        lines.append(b"Host: %b" % request.url.netloc)
    if body_size or request.method in _METHODS_WITH_BODY:
        lines.append(b"Content-Length: %d" % body_size)
    head = b"\r\n".join(lines) + b"\r\n\r\n"
    # A line break inside a value would be a header, or a request, of somebody else's making (RFC 9110 5.5).
    expected = len(lines) + 1
    if head.count(b"\n") != expected or head.count(b"\r") != expected or b"\0" in head:
        raise httpx.LocalProtocolError("a header holds a line break or NUL")
    return head
