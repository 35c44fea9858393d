"""The client's port over any ``httpx`` transport: the store in this process, and those of tests.

Here alone errors of httpx become those of the port. A capture over our own sockets does not load this.
"""

from __future__ import annotations

from functools import lru_cache
from typing import cast

import httpx

from agent.ruvector.exchange import Answer, AnswerLost, Exchange, NotConnected, Request, Unformed


class HttpxExchange(Exchange):
    """Thread-safe if ``transport`` is. It is told deadlines and bounds in ``request.extensions``, by their names."""

    def __init__(self, transport: httpx.BaseTransport) -> None:
        self._transport = transport

    def exchange(self, request: Request, *, connect_deadline: float, deadline: float) -> Answer:
        """Hand ``request`` to the transport and read its answer whole. Raises what the port says, and Unformed."""
        try:
            response = self._transport.handle_request(_request(request, connect_deadline, deadline))
            try:
                # The bytes as they came: a content coding was ruled out, and inflating would undo the bound.
                body = b"".join(cast("httpx.SyncByteStream", response.stream))
            finally:
                response.close()
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise NotConnected("no connection") from error
        except (httpx.LocalProtocolError, httpx.UnsupportedProtocol):
            raise Unformed("not a request that can be sent") from None
        except httpx.RequestError as error:
            # Whatever else httpx raises, the request was on its way.
            raise AnswerLost("the answer is lost") from error
        return Answer(response.status_code, response.headers.raw, body)

    def close(self) -> None:
        """Close the transport."""
        self._transport.close()


def _request(request: Request, connect_deadline: float, deadline: float) -> httpx.Request:
    lines = request.head.split(b"\r\n")[1:-2]
    # A stream instead of content: httpx then adds no headers of its own, which would cost more than the rest.
    return httpx.Request(
        request.method,
        _url(request.address.url(request.target)),
        headers=[cast("tuple[bytes, bytes]", tuple(line.split(b": ", 1))) for line in lines],
        stream=httpx.ByteStream(request.body),
        extensions={"deadline": deadline, "connect_deadline": connect_deadline, "max_body": request.max_body},
    )


@lru_cache(maxsize=8)
def _url(url: str) -> httpx.URL:
    """Parsed once for what is asked again and again: an append."""
    return httpx.URL(url)
