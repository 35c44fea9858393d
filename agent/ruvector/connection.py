"""One TCP or TLS connection to the store, and every wait on it bounded by an instant.

The instant is that of the whole attempt: each connect, handshake, send and receive waits at most for what is left of
it, so a peer that trickles bytes cannot outlive it. Name resolution alone has no bound of ours (CONTRACT 7).
A peer may answer before it has the whole request (RFC 9112 9.5), so a send that cannot go on also looks for the answer.
Errors of sockets and TLS become those of the client's port here.
"""

from __future__ import annotations

import socket
import ssl
import sys
from collections.abc import Callable, Sequence
from select import POLLIN, POLLOUT, poll
from typing import Any, Final

from agent.ruvector.exchange import (
    Answer,
    AnswerTimedOut,
    ConnectionBroke,
    ConnectTimedOut,
    NotConnected,
    SendTimedOut,
)
from agent.ruvector.response import ResponseReader

# More than a TLS record holds: what one receive leaves behind is then in the kernel, where poll sees it.
_RECEIVE_BYTES: Final = 64 * 1024
_WOULD_BLOCK: Final = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
# struct tcp_info of Linux (uapi/linux/tcp.h): the state first, at 128 how many bytes were received. No option has the
# number 0 where there is no such struct.
_TCP_INFO: Final = getattr(socket, "TCP_INFO", 0)
_TOLD_BYTES: Final = 136
_ESTABLISHED: Final = b"\x01"
_RECEIVED: Final = slice(128, 136)

Clock = Callable[[], float]
# What getaddrinfo gives and socket takes: family, kind, protocol, canonical name, and the family's own address.
Address = tuple[int, int, int, str, Any]


class Connection:
    """A connected socket with its parser. Not thread-safe: one exchange at a time."""

    __slots__ = ("_clock", "_readable", "_reader", "_socket", "_taken", "idle_since")

    def __init__(self, connected: socket.socket, clock: Clock) -> None:
        connected.settimeout(0)
        self._socket = connected
        # Waits for what almost every exchange waits for: made once, where a poll of each wait's own costs more.
        self._readable = poll()
        self._readable.register(connected, POLLIN)
        self._clock = clock
        self._taken = 0  # bytes received, ever
        self._reader = ResponseReader()
        self.idle_since = clock()

    def exchange(self, message: bytes, body: bytes, *, deadline: float, head_only: bool, max_body: int) -> bool:
        """Send ``message`` then ``body``, receive one response; whether the connection may be used again.

        A response that is whole before the request is ends the exchange. One that has only begun does not: the peer
        may still wait for the rest, so both go on. Where the peer takes no more, its answer may be there already.
        Raises SendTimedOut, AnswerTimedOut, ConnectionBroke, NotHttp or BodyRefused.
        """
        self._reader.start(head_only=head_only, max_body=max_body)
        sent = self._send(message, deadline) and self._send(body, deadline)
        try:
            while not self._reader.complete:
                self._wait(POLLIN, deadline)
                self._receive()
        except TimeoutError as error:
            raise AnswerTimedOut("the answer did not come in time") from error
        return sent and self._reader.reusable

    def answer(self) -> Answer:
        """What the last exchange received."""
        return self._reader.answer()

    def is_stale(self) -> bool:
        """Whether the idle connection is closed by the peer, or holds bytes that belong to no request.

        A TLS session ticket that comes late counts as such bytes: connecting anew is then merely slower.
        """
        if self._is_known_fresh():
            return False
        try:
            # The method of the plain socket also on a TLS socket: a look at the wire that decrypts nothing.
            socket.socket.recv(self._socket, 1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    def _is_known_fresh(self) -> bool:
        """Whether the kernel says that the peer has closed nothing, and sent no byte that was not taken.

        Asked first, since to look at the wire gives the interpreter's lock away and costs a turn of another thread.
        False where it does not say: under TLS (bytes taken are not those that came), where it is no TCP of Linux.
        """
        try:
            said = self._socket.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, _TOLD_BYTES)
        except OSError:
            return False
        return said[:1] == _ESTABLISHED and said[_RECEIVED] == self._taken.to_bytes(8, sys.byteorder)

    def close(self) -> None:
        self._socket.close()
        self._reader.release()

    def _send(self, data: bytes, deadline: float) -> bool:
        """Whether all of ``data`` was sent: not where the answer was whole before, or the peer takes no more."""
        left = memoryview(data)
        try:
            while left:
                remaining(deadline, self._clock)
                try:
                    left = left[self._socket.send(left) :]
                except _WOULD_BLOCK as blocked:
                    # TLS may have to read before it can write: a socket that is writable is no news then.
                    events = POLLIN if isinstance(blocked, ssl.SSLWantReadError) else POLLIN | POLLOUT
                    if self._wait(events, deadline) != POLLOUT:
                        self._receive()
                    if self._reader.complete:
                        return False
                except OSError:
                    return False
        except TimeoutError as error:
            raise SendTimedOut("the request could not be sent in time") from error
        return True

    def _receive(self) -> None:
        """Take what has come, if anything has."""
        try:
            data = self._socket.recv(_RECEIVE_BYTES)
        except _WOULD_BLOCK:  # half a TLS record, or one that holds no data
            return
        except OSError as error:
            raise ConnectionBroke("the connection broke") from error
        if data:
            self._taken += len(data)
            self._reader.feed(data)
        else:
            self._reader.end()

    def _wait(self, events: int, deadline: float) -> int:
        """What the socket is ready for, of ``events`` or an error. Raises TimeoutError at ``deadline``."""
        poller = self._readable
        if events != POLLIN:
            poller = poll()
            poller.register(self._socket, events)
        ready = poller.poll(remaining(deadline, self._clock) * 1000)
        if not ready:
            raise TimeoutError
        return ready[0][1]


def remaining(deadline: float, clock: Clock) -> float:
    """Seconds left until ``deadline``. Raises TimeoutError if there are none."""
    left = deadline - clock()
    if left <= 0:
        raise TimeoutError
    return left


def connect(host: str, port: int, *, context: ssl.SSLContext | None, deadline: float, clock: Clock) -> Connection:
    """Connect to the first address of ``host`` that accepts, with TLS if there is a ``context``.

    Raises ConnectTimedOut at ``deadline``, NotConnected for DNS, refusal and TLS failures.
    """
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        plain = _connect_first(addresses, deadline, clock)
        return Connection(plain if context is None else _wrap(plain, context, host, deadline, clock), clock)
    except TimeoutError as error:
        raise ConnectTimedOut("no connection in time") from error
    except (OSError, UnicodeError) as error:  # UnicodeError: a label that no name can have
        raise NotConnected("no connection") from error


def _connect_first(addresses: Sequence[Address], deadline: float, clock: Clock) -> socket.socket:
    failure: OSError = OSError("no address")
    for place, address in enumerate(addresses):
        # Each address gets its share: one that swallows packets must not starve the next.
        share = remaining(deadline, clock) / (len(addresses) - place)
        try:
            return _connect_one(address, share)
        except OSError as error:
            failure = error
    try:
        raise failure
    finally:
        del failure  # it and this frame refer to each other, and the frames above hold what is to be written


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
