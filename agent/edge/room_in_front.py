"""Room for large bodies in front of a whole WSGI application, which reads them itself.

A request with a body waits for its place before the application sees it, and keeps it until the answer is made: a
store takes bodies of 32 MiB, and sixteen of twelve at once took more memory than its instance has (676 MiB, ADR 21).
Small bodies and requests without one wait for nobody. Refuses nothing itself: ``refused`` answers who waited too long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from agent.edge.room import Room
from agent.errors import RateLimitExceeded

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# What answers, as a WSGI application, in place of the one that had no room.
Refused = Callable[[RateLimitExceeded], "WSGIApplication"]


class RoomInFront:
    """``application``, but all the large bodies that it is at work on at once fit into ``room``."""

    def __init__(self, application: WSGIApplication, room: Room, *, refused: Refused) -> None:
        self._application = application
        self._room = room
        self._refused = refused

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer by the application in its turn; an answer to a body is made before its place is given back."""
        size = _announced(environ)
        if size == 0:
            return self._application(environ, start_response)
        with self._room.place() as place:
            try:
                place.hold(size)
            except RateLimitExceeded as error:
                return self._refused(error)(environ, start_response)
            return _made(self._application(environ, start_response))


def _announced(environ: WSGIEnvironment) -> int | None:
    """How many bytes the body has; None where nobody knows before its end, in chunks or compressed."""
    text = environ.get("CONTENT_LENGTH") or ""
    if environ.get("HTTP_TRANSFER_ENCODING") or (text and environ.get("HTTP_CONTENT_ENCODING")):
        return None
    # What is no number is for the application to refuse.
    return int(text) if text.isascii() and text.isdigit() else 0


def _made(answer: Iterable[bytes]) -> list[bytes]:
    try:
        return list(answer)
    finally:
        close = getattr(answer, "close", None)
        if close is not None:
            close()
