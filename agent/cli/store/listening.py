"""The socket of the store's server: resolved and bound before anything starts, so that what is wrong is one line.

Without keys the store answers programs on its own host alone (``store.http.access``); an address that others reach
would only be a door that is shut, or one that a proxy opens, so it is refused.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
from typing import Final

from agent.errors import ConfigurationError

# How long the kernel waits for a client that stalls while it sends or reads: it keeps one of few threads.
STALLED_AT_MOST_S: Final = 30
# struct timeval: seconds and microseconds.
_TIMEVAL: Final = struct.Struct("ll")


def listening_socket(host: str, port: int, *, keyless: bool) -> socket.socket:
    """A socket bound to ``host`` and ``port`` (0: a free one), for a server to listen on.

    Raises ConfigurationError, which names the option, for what cannot be bound, and where a ``keyless`` store would be
    reached from another host.
    """
    family, address = _resolved(host, port)
    if keyless and not ipaddress.ip_address(address[0].partition("%")[0]).is_loopback:
        raise ConfigurationError(
            "RUVECTOR_KEYS", "is missing: without keys the store listens on a loopback address alone, as 127.0.0.1"
        )
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            # What is accepted from a socket has its options.
            bound.setsockopt(socket.SOL_SOCKET, option, _TIMEVAL.pack(STALLED_AT_MOST_S, 0))
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise ConfigurationError("--port", f"cannot listen on {port}: {os.strerror(error.errno or 0)}") from error
    return bound


def address_of(bound: socket.socket) -> str:
    """The URL of a bound socket."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _resolved(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise ConfigurationError("--host", "is no address and no name that is known here") from error
    family, _, _, _, address = found[0]
    return family, address  # type: ignore[return-value]  # the two families that SOCK_STREAM resolves to
