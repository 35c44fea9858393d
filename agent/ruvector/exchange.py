"""The port that the client asks a store through: one request, one answer received whole, and what can go wrong.

Its two sides are ``transport`` (sockets of our own) and ``over_httpx`` (whatever is an ``httpx.BaseTransport``).
Nothing here imports httpx: a capture over HTTP does without it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from agent.ruvector.address import Address

Fields = Sequence[tuple[bytes, bytes]]


class Request(NamedTuple):
    """``head`` is the request line and header section (RFC 9112 2), ``body`` as long as it says; ``target`` is a path
    with its query. ``max_body`` bounds the bytes of the answer's body.
    """

    address: Address
    method: str
    target: str
    head: bytes
    body: bytes
    max_body: int


class Answer(NamedTuple):
    """``fields`` as they came. ``is_whole`` False: the body was longer than asked, and is empty here."""

    status: int
    fields: Fields
    body: bytes
    is_whole: bool = True

    def field(self, name: bytes) -> str | None:
        """The value of the field ``name`` (lower case), of several joined by commas (RFC 9110 5.3); None without."""
        values = [value for given, value in self.fields if given.lower() == name]
        return b", ".join(values).decode("latin-1") if values else None


class Exchange(ABC):
    """Thread-safe where its transport is."""

    @abstractmethod
    def exchange(self, request: Request, *, connect_deadline: float, deadline: float) -> Answer:
        """Send ``request`` once and receive its answer. Raises NotConnected, AnswerLost, BodyRefused, Unformed.

        ``deadline`` is the instant of the transport's clock (monotonic seconds) at which all of it must be over,
        ``connect_deadline`` that at which there must be a connection.
        """

    @abstractmethod
    def close(self) -> None:
        """Close what it holds open."""


class ExchangeError(Exception):
    """No answer came that can be used. Its text is fixed: nothing of request, address or answer is in it."""


class Unformed(ExchangeError):
    """The request cannot be sent as it is. A fault of ours."""


class NotConnected(ExchangeError):
    """No connection: nothing was sent."""


class ConnectTimedOut(NotConnected):
    """No connection in time."""


class AnswerLost(ExchangeError):
    """The request was on its way, and the peer may have acted on it."""


class SendTimedOut(AnswerLost):
    """The peer did not take the request in time."""


class AnswerTimedOut(AnswerLost):
    """The peer did not answer in time."""


class ConnectionBroke(AnswerLost):
    """The connection failed while an answer was waited for."""


class NotHttp(AnswerLost):
    """What the peer sent is no HTTP/1.1 answer, or is none within its bounds, or not all of one."""


class BodyRefused(ExchangeError):
    """The answer came, with its status and ``fields``, but its body is longer than asked."""

    def __init__(self, status: int, fields: Fields) -> None:
        super().__init__("the answer's body is too long")
        self.status = status
        self.fields = fields
