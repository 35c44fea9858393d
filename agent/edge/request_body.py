"""The body of a request of the function host: read under its bounds, and what is left of it read and dropped.

A sender may stall or be gone at any point: none keeps a thread, and none loses an answer because the server closed on
bytes that nobody read.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, Final

from agent.edge.body import read_body

Environ = Mapping[str, Any]

# A client that is still sending gets our answer only if somebody reads on; beyond this it is cut off.
_DRAINED_AT_MOST: Final = 64 * 1024 * 1024
# How long a sender may pause: within a body that is wanted, and within what nobody waits for any more.
_STALLED_AT_MOST_S: Final = 10
_DRAIN_STALLED_AT_MOST_S: Final = 1
# struct timeval: seconds and microseconds.
_TIMEVAL: Final = struct.Struct("ll")
_PIECE: Final = 64 * 1024


def request_body(environ: Environ) -> bytes:
    """The whole body, as ``read_body`` bounds and refuses it."""
    with _stalls_bounded(environ, _STALLED_AT_MOST_S):
        return read_body(
            environ["wsgi.input"],
            content_length=_content_length(environ),
            encoding=environ.get("HTTP_CONTENT_ENCODING"),
        )


def answer_and_read_on(body: bytes, environ: Environ) -> Iterator[bytes]:
    """``body`` of an answer, after which what is left of the request's is read and dropped, within bounds.

    Not before it: a sender that stalls would wait for its answer. Not never: a server that closes on unread bytes
    resets the connection, and the answer may be lost on the way.
    """
    yield body
    # The sender may be gone, or its chunks broken: then nobody waits for the answer.
    with _stalls_bounded(environ, _DRAIN_STALLED_AT_MOST_S), suppress(Exception):
        _drain(environ["wsgi.input"])


def _content_length(environ: Environ) -> int | None:
    text = environ.get("CONTENT_LENGTH", "")
    # The host refuses a length that is no number; a chunked body has none.
    return int(text) if text.isascii() and text.isdigit() else None


def _drain(stream: BinaryIO) -> None:
    left = _DRAINED_AT_MOST
    while left > 0 and (piece := stream.read(_PIECE)):
        left -= len(piece)


@contextmanager
def _stalls_bounded(environ: Environ, seconds: int) -> Iterator[None]:
    """Have each receive of the host's socket end after ``seconds``: a stalled sender must not keep a thread.

    By the kernel's own timeout: Python's would poll before each receive, and a capture has no time for that.
    """
    connection = environ.get("gunicorn.socket")
    if connection is None:
        yield
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEVAL.pack(seconds, 0))
    try:
        yield
    finally:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEVAL.pack(0, 0))
