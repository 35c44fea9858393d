"""The head of a request (RFC 9112 2): what every request of a client says is put together once.

Refused: a value that holds a line of its own.
"""

from __future__ import annotations

from typing import NamedTuple

from agent.ruvector.exchange import Fields, Unformed


class HeadStart(NamedTuple):
    """A request line and the fields that are always sent, as ``lines``; ``size`` of them."""

    lines: bytes
    size: int

    @classmethod
    def of(cls, method: str, target: str, fields: Fields) -> HeadStart:
        """The start of the heads of requests for ``target``, an ASCII path with its query."""
        return cls(f"{method} {target} HTTP/1.1\r\n".encode("ascii") + _lines(fields), 1 + len(fields))

    def whole(self, own: Fields = ()) -> bytes:
        """The head of one request, with the fields that are its ``own``. Raises Unformed.

        A line break inside a value would be a header, or a request, of somebody else's making (RFC 9110 5.5).
        """
        head = self.lines + _lines(own) + b"\r\n"
        expected = self.size + len(own) + 1
        if head.count(b"\n") != expected or head.count(b"\r") != expected or b"\0" in head:
            raise Unformed("a header holds a line break or NUL")
        return head


def _lines(fields: Fields) -> bytes:
    return b"".join([b"%b: %b\r\n" % field for field in fields])
