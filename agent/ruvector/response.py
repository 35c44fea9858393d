"""From the bytes of a connection to one HTTP/1.1 response (RFC 9112), over the llhttp parser of ``httptools``.

Refuses what does not parse, a switch of protocols, heads and trailers over 64 KiB, and bodies over the caller's bound.
Interim responses are skipped.
"""

from __future__ import annotations

from typing import Final

import httptools

from agent.ruvector.exchange import Answer, BodyRefused, NotHttp

MAX_HEAD_BYTES: Final = 64 * 1024


class ResponseReader:
    """Reads the responses of one connection, one after the other: ``start``, then ``feed`` until ``complete``.

    ``reusable``: a complete response left the connection fit for another request.
    """

    __slots__ = (
        "_barren",
        "_body_size",
        "_head_complete",
        "_head_only",
        "_head_size",
        "_headers",
        "_max_body",
        "_parser",
        "_parts",
        "_status",
        "complete",
        "reusable",
    )

    def __init__(self) -> None:
        self.start(head_only=False, max_body=0)
        self._parser = httptools.HttpResponseParser(self)

    def start(self, *, head_only: bool, max_body: int) -> None:
        """Expect a new response: ``head_only`` to a HEAD request, ``max_body`` bytes of body at most."""
        self._head_only = head_only
        self._max_body = max_body
        self._status = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._parts: list[bytes] = []
        self._head_complete = self.complete = self.reusable = False
        self._head_size = self._body_size = self._barren = 0

    def feed(self, data: bytes) -> None:
        """Take what was received.

        Raises NotHttp where the peer does not keep to HTTP or to the bounds, BodyRefused where its body is too long.
        """
        before = self._body_size
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:  # no subclass of one another
            if not self.complete:
                raise NotHttp("the answer is not HTTP/1.1") from error
            self.reusable = False  # bytes after the end belong to no request
        if self._body_size == before and not self.complete:
            # Heads, trailers and chunk extensions all pass without a byte of body.
            self._barren += len(data)
        else:
            self._barren = 0
        if self._head_size > MAX_HEAD_BYTES or self._barren > MAX_HEAD_BYTES:
            raise NotHttp("the answer's head is too long")
        if self._body_size > self._max_body:
            self._parts.clear()
            raise BodyRefused(self._status, self._headers)

    def end(self) -> None:
        """The peer closed: the end of a body that is delimited so (RFC 9112 6.3), else NotHttp."""
        names = {name.lower() for name, _ in self._headers}
        chunked = any(
            name.lower() == b"transfer-encoding" and value.lower().endswith(b"chunked") for name, value in self._headers
        )
        if not self._head_complete or b"content-length" in names or chunked:
            raise NotHttp("the connection closed without a complete answer")
        self.complete = True

    def answer(self) -> Answer:
        """What was received, with the body as it came: a content coding is the caller's to undo."""
        return Answer(self._status, self._headers, b"".join(self._parts))

    def release(self) -> None:
        """Part from the parser, which holds this reader: the two free each other's memory at once."""
        del self._parser

    # What follows is called by the parser, under the names that it prescribes.

    def on_message_begin(self) -> None:
        if self.complete:
            self.reusable = False
        else:
            self._headers.clear()

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._head_complete:  # what comes after the body is a trailer, and nothing here reads trailers
            self._headers.append((name, value))
            self._head_size += len(name) + len(value) + 4

    def on_headers_complete(self) -> None:
        if self.complete:
            return
        self._status = self._parser.get_status_code()
        self._head_complete = self._status >= 200
        if self._head_only and self._head_complete:
            # The parser cannot be told that no body follows, so it cannot read on either: not reusable.
            self.complete = True

    def on_body(self, body: bytes) -> None:
        if not self.complete:
            self._parts.append(body)
            self._body_size += len(body)

    def on_message_complete(self) -> None:
        if self._head_complete and not self.complete:
            self.complete = True
            self.reusable = self._parser.should_keep_alive()
