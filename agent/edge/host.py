"""What the function host must not answer by itself: its HTML pages become typed JSON (CONTRACT 7).

The host has pages of its own for a few paths, for what its router redirects, and for a crash: a WSGI layer lets JSON
answers through as they are and replaces every other. Its server, gunicorn, has pages for what is no HTTP at all, and
repeats in them what was sent: the one function that writes them is replaced. Its log would repeat it too.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from flask import Response

from agent.errors import AgentError, InternalError, MethodNotAllowed, NotFound, PayloadTooLarge, ValidationError

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class TypedAnswers:
    """Wraps the host's WSGI application; ``typed`` makes the answer that replaces one with a given status."""

    def __init__(self, application: WSGIApplication, typed: Callable[[int], Response]) -> None:
        self._application = application
        self._typed = typed

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer by the wrapped application, or in its place."""
        replaced: list[int] = []

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], object]:
            if ("Content-Type", "application/json") in headers:
                return start_response(status, headers, exc_info)
            replaced.append(int(status.split(" ", 1)[0]))
            return _discard

        answer = self._application(environ, start)
        if not replaced:
            return answer
        close = getattr(answer, "close", None)
        if close is not None:
            close()
        return self._typed(replaced[-1])(environ, start_response)


def type_protocol_errors(typed: Callable[[int], Response]) -> None:
    """Have gunicorn answer a request that it cannot parse by ``typed`` too, and without a word of the request."""
    from gunicorn import util  # with the host that is loading us; the tests of the WSGI layer need none

    def write_error(connection: socket.socket, status: int, _reason: str, _message: str) -> None:
        answer = typed(status)
        head = [
            f"HTTP/1.1 {answer.status}",
            "Connection: close",
            *(f"{name}: {value}" for name, value in answer.headers),
        ]
        util.write_nonblock(connection, "\r\n".join([*head, "", ""]).encode("latin-1") + answer.get_data())

    util.write_error = write_error
    logging.getLogger("gunicorn.error").addFilter(_ToldWithoutRequests())


class _ToldWithoutRequests(logging.Filter):
    """Keeps what gunicorn logs, and of it no word of a request: paths, methods, messages and frames of its exceptions.

    At INFO it tells of itself alone: where it listens, which workers it has. So does what it says of a worker that does
    not start.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record through, without what a request may have put into it."""
        if record.levelno == logging.INFO or record.msg == "Exception in worker process":
            return True
        text = str(record.msg)
        # It puts the words of the request into the text itself: base.Worker.handle_error.
        record.msg = "Invalid request" if text.startswith("Invalid request") else text
        if isinstance(record.args, tuple):
            record.args = tuple(each if isinstance(each, int) else "..." for each in record.args)
        if record.exc_info and record.exc_info[0] is not None:
            record.msg = f"{record.msg} ({record.exc_info[0].__name__})"
            record.exc_info = None
        return True


def host_refusal(status: int) -> AgentError:
    """What a page of the host's own with this ``status`` says; a redirect of its router is an unknown path."""
    if status in {400, 404, 405, 413}:
        kinds = {400: ValidationError, 404: NotFound, 405: MethodNotAllowed, 413: PayloadTooLarge}
        return kinds[status]("the request was refused by the function host")
    if 400 <= status < 500 or status == 501:
        # No HTTP that the host can read: a bad request, in our table of statuses.
        return ValidationError("the request is not HTTP that the function host can read")
    if 300 <= status < 400:
        return NotFound("there is nothing at this path")
    return InternalError("the function host failed")


def _discard(data: bytes) -> None:
    """The write callable of PEP 3333 for a page that nobody will see."""
