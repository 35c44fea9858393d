"""A request's bytes, read under one bound (CONTRACT 2).

The bound holds for what was announced, for what arrives, chunked or not, and for what comes out of gzip. Refuses with
``PayloadTooLarge`` (rule ``size``), and with ``ValidationError`` (rule ``encoding``) a coding other than gzip and
identity, broken gzip, and a body that breaks off.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

from agent.edge.room import SMALL_BYTES, Place
from agent.errors import BodyBrokeOff, PayloadTooLarge, Problem, ValidationError

MAX_BODY_BYTES: Final = 10 * 1024 * 1024
# Small, because a gzip member that ends inside a piece makes zlib copy the rest of that piece.
_PIECE: Final = 16 * 1024
# RFC 9110 8.4.1.3: x-gzip is gzip.
_GZIP: Final = frozenset({"gzip", "x-gzip"})
_IDENTITY: Final = frozenset({"identity", ""})
# zlib's number for "gzip header and trailer, largest window".
_GZIP_WINDOW: Final = 31


def read_body(
    stream: BinaryIO,
    *,
    content_length: int | None,
    encoding: str | None,
    at_most: int = MAX_BODY_BYTES,
    place: Place | None = None,
) -> bytes:
    """Read ``stream`` to its end, or to ``content_length`` bytes, and undo its ``Content-Encoding``.

    ``content_length`` is None where the body is chunked; ``at_most`` is the bound in bytes. Never holds more than one
    byte beyond it, and more than ``SMALL_BYTES`` only in a ``place`` for it, where there is one: raises
    RateLimitExceeded.
    """
    coding = (encoding or "").strip().lower()
    if coding not in _GZIP and coding not in _IDENTITY:
        raise _refused("the Content-Encoding is neither gzip nor identity")
    if content_length is not None and content_length > at_most:
        raise too_large(at_most)
    pieces = _pieces(stream, content_length, at_most)
    if content_length is not None and coding in _IDENTITY:
        if place is not None:
            place.hold(content_length)
        return b"".join(pieces)  # never more than the length that was just looked at
    pieces = _bounded(_inflated(pieces) if coding in _GZIP else pieces, at_most)
    return b"".join(pieces if place is None else _held(pieces, place))


def too_large(at_most: int) -> PayloadTooLarge:
    """The error to raise for a body of more than ``at_most`` bytes."""
    return PayloadTooLarge(f"the body has more than {at_most} bytes", [Problem("$", "size")])


def _pieces(stream: BinaryIO, content_length: int | None, at_most: int) -> Iterator[bytes]:
    """What arrives; of a chunked body one byte beyond the bound, to tell a body of just that size from a longer one."""
    left = at_most + 1 if content_length is None else content_length
    while left > 0:
        try:
            piece = stream.read(min(_PIECE, left))
        except Exception:  # noqa: BLE001 - each host has its own errors for broken chunks and lost senders
            raise _broke_off("the body broke off, or its chunks are malformed") from None
        if not piece:
            if content_length is not None:
                raise _broke_off("the body is shorter than its Content-Length")
            return
        left -= len(piece)
        yield piece
    if content_length is None:
        raise too_large(at_most)


def _bounded(pieces: Iterable[bytes], at_most: int) -> Iterator[bytes]:
    left = at_most
    for piece in pieces:
        left -= len(piece)
        if left < 0:
            raise too_large(at_most)
        yield piece


def _held(pieces: Iterable[bytes], place: Place) -> Iterator[bytes]:
    """Pieces of a body whose size nobody knows before its end."""
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > SMALL_BYTES:
            place.hold(None)
        yield piece


def _inflated(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Undo gzip, several members too (RFC 1952 2.2), in pieces of bounded size; no bytes at all stay no bytes."""
    member = None
    for piece in pieces:
        data = piece
        while data:
            if member is None or member.eof:
                member = zlib.decompressobj(wbits=_GZIP_WINDOW)
            yield _inflate(member, data)
            data = member.unused_data if member.eof else member.unconsumed_tail
    # Output that zlib still holds back is lost here, but then the member's trailer is missing, too.
    if member is not None and not member.eof:
        raise _refused("the gzip data end too early")


def _inflate(member: zlib._Decompress, data: bytes) -> bytes:
    try:
        return member.decompress(data, _PIECE)
    except zlib.error:
        raise _refused("the body is not gzip data") from None


def _broke_off(message: str) -> BodyBrokeOff:
    return BodyBrokeOff(message, [Problem("$", "encoding")])


def _refused(message: str) -> ValidationError:
    return ValidationError(message, [Problem("$", "encoding")])
