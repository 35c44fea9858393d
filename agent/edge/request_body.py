"""The body of a request of the function host: read under its bounds, and what is left of it read and dropped.

A sender may stall or be gone at any point: none keeps a thread, and none loses an answer because the server closed on
bytes that nobody read. How long it may keep us waiting for the whole of a body its socket knows (``timed_socket``): a
body that does not come in that time has broken off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, BinaryIO, Final

from agent.edge.body import MAX_BODY_BYTES, read_body
from agent.edge.room import Place
from agent.edge.timed_socket import TimedSocket

Environ = Mapping[str, Any]

# A client that is still sending gets our answer only if somebody reads on; beyond this it is cut off.
_DRAINED_AT_MOST: Final = 64 * 1024 * 1024
# How long it may keep us waiting for what nobody waits for any more, in all.
_DRAINED_WITHIN_S: Final = 3.0
_PIECE: Final = 64 * 1024


def request_body(environ: Environ, *, at_most: int = MAX_BODY_BYTES, place: Place | None = None) -> bytes:
    """The whole body, as ``read_body`` bounds and refuses it, and waits for its ``place``."""
    return read_body(
        environ["wsgi.input"],
        content_length=_content_length(environ),
        encoding=environ.get("HTTP_CONTENT_ENCODING"),
        at_most=at_most,
        place=place,
    )


def answer_and_read_on(body: bytes, environ: Environ) -> Iterator[bytes]:
    """``body`` of an answer, after which what is left of the request's is read and dropped, within bounds.

    Not before it: a sender that stalls would wait for its answer. Not never: a server that closes on unread bytes
    resets the connection, and the answer may be lost on the way.
    """
    yield body
    # The sender may be gone, or its chunks broken: then nobody waits for the answer.
    connection = environ.get("gunicorn.socket")
    if isinstance(connection, TimedSocket):
        connection.hurry(_DRAINED_WITHIN_S)
    with suppress(Exception):
        _drain(environ["wsgi.input"])


def _content_length(environ: Environ) -> int | None:
    text = environ.get("CONTENT_LENGTH", "")
    # The host refuses a length that is no number; a chunked body has none.
    return int(text) if text.isascii() and text.isdigit() else None


def _drain(stream: BinaryIO) -> None:
    left = _DRAINED_AT_MOST
    while left > 0 and (piece := stream.read(_PIECE)):
        left -= len(piece)
