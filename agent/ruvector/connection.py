"""One TCP or TLS connection to the store, and every wait on it bounded by an instant.

The instant is that of the whole attempt: each connect, handshake, send and receive waits at most for what is left of
it, so a peer that trickles bytes cannot outlive it. Name resolution alone has no bound of ours (CONTRACT 7).
Errors of sockets and TLS become those of httpx here.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import httpx

from agent.ruvector.response import BodyRefused, ResponseReader

if TYPE_CHECKING:
    import ssl

_RECEIVE_BYTES: Final = 64 * 1024

Clock = Callable[[], float]
# What getaddrinfo gives and socket takes: family, kind, protocol, canonical name, and the family's own address.
Address = tuple[int, int, int, str, Any]


class Connection:
    """A connected socket with its parser. Not thread-safe: one exchange at a time."""

    __slots__ = ("_clock", "_reader", "_socket", "idle_since")

    def __init__(self, connected: socket.socket, clock: Clock) -> None:
        self._socket = connected
        self._clock = clock
        self._reader = ResponseReader()
        self.idle_since = clock()

    def exchange(self, message: bytes, body: bytes, *, deadline: float, head_only: bool, max_body: int) -> bool:
        """Send ``message`` then ``body``, receive one response; whether the connection may be used again.

        Raises WriteTimeout, WriteError, ReadTimeout, ReadError or RemoteProtocolError of httpx.
        """
        self._reader.start(head_only=head_only, max_body=max_body)
        unsent: httpx.TransportError | None = None
        try:
            self._send(message, deadline)
            if body:
                self._send(body, deadline)
        except httpx.WriteError as error:
            # A server may refuse a long body early, answer and close: the answer may be there already.
            unsent = error
        try:
            while not self._receive(deadline):
                pass
        except BodyRefused:
            raise  # an answer, if one without a body
        except httpx.TransportError:
            if unsent is not None:
                raise unsent from None
            raise
        return self._reader.reusable and unsent is None

    def response(self) -> httpx.Response:
        """What the last exchange received."""
        return self._reader.response()

    def is_stale(self) -> bool:
        """Whether the idle connection is closed by the peer, or holds bytes that belong to no request.

        A TLS session ticket that comes late counts as such bytes: connecting anew is then merely slower.
        """
        self._socket.settimeout(0)
        try:
            # The method of the plain socket also on a TLS socket: a look at the wire that decrypts nothing.
            socket.socket.recv(self._socket, 1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    def close(self) -> None:
        self._socket.close()
        self._reader.release()

    def _send(self, data: bytes, deadline: float) -> None:
        left = memoryview(data)
        try:
            while left:
                self._socket.settimeout(self._remaining(deadline))
                left = left[self._socket.send(left) :]
        except TimeoutError as error:
            raise httpx.WriteTimeout("the request could not be sent in time") from error
        except OSError as error:
            raise httpx.WriteError("the request could not be sent") from error

    def _receive(self, deadline: float) -> bool:
        try:
            self._socket.settimeout(self._remaining(deadline))
            data = self._socket.recv(_RECEIVE_BYTES)
        except TimeoutError as error:
            raise httpx.ReadTimeout("the answer did not come in time") from error
        except OSError as error:
            raise httpx.ReadError("the connection broke") from error
        if data:
            return self._reader.feed(data)
        self._reader.end()
        return True

    def _remaining(self, deadline: float) -> float:
        return remaining(deadline, self._clock)


def remaining(deadline: float, clock: Clock) -> float:
    """Seconds left until ``deadline``. Raises TimeoutError if there are none."""
    left = deadline - clock()
    if left <= 0:
        raise TimeoutError
    return left


def connect(host: str, port: int, *, context: ssl.SSLContext | None, deadline: float, clock: Clock) -> Connection:
    """Connect to the first address of ``host`` that accepts, with TLS if there is a ``context``.

    Raises httpx.ConnectTimeout at ``deadline``, httpx.ConnectError for DNS, refusal and TLS failures.
    """
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        plain = _connect_first(addresses, deadline, clock)
        return Connection(plain if context is None else _wrap(plain, context, host, deadline, clock), clock)
    except TimeoutError as error:
        raise httpx.ConnectTimeout("no connection in time") from error
    except (OSError, UnicodeError) as error:  # UnicodeError: a label that no name can have
        raise httpx.ConnectError("no connection") from error


def _connect_first(addresses: Sequence[Address], deadline: float, clock: Clock) -> socket.socket:
    failure: OSError = OSError("no address")
    for place, address in enumerate(addresses):
        # Each address gets its share: one that swallows packets must not starve the next.
        share = remaining(deadline, clock) / (len(addresses) - place)
        try:
            return _connect_one(address, share)
        except OSError as error:
            failure = error
    raise failure


def _connect_one(address: Address, timeout_s: float) -> socket.socket:
    family, kind, protocol, _, peer = address
    candidate = socket.socket(family, kind, protocol)
    try:
        candidate.settimeout(timeout_s)
        candidate.connect(peer)
        candidate.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        candidate.close()
        raise
    return candidate


def _wrap(plain: socket.socket, context: ssl.SSLContext, host: str, deadline: float, clock: Clock) -> socket.socket:
    try:
        plain.settimeout(remaining(deadline, clock))
        return context.wrap_socket(plain, server_hostname=host)
    except BaseException:
        plain.close()
        raise
