"""The store's WSGI application as a function of the function host: every answer is the store's own.

The host has pages for a few paths, for what its router redirects and for a crash. Where it answers without calling the
function, the store is asked instead. Its server, gunicorn, has pages for what is no HTTP at all, and repeats in them
what was sent: these become typed JSON without a word of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, cast

from flask import Request, Response

from agent.capture.host import type_protocol_errors

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_CALLED: Final = "ruvector.function_called"


class HostedStore:
    """``application`` is the store's HTTP surface."""

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application

    def answer(self, request: Request) -> Response:
        """The store's answer to ``request``, in pieces where it comes in pieces."""
        request.environ[_CALLED] = True
        # werkzeug's class method says that it makes one of werkzeug's.
        return cast("Response", Response.from_app(self._application, request.environ))

    def in_place_of_pages(self, host: WSGIApplication) -> WSGIApplication:
        """``host``, but where it does not call the function the store answers."""

        def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], object]:
                return start_response(status, headers, exc_info) if _CALLED in environ else _discard

            page = host(environ, start)
            if _CALLED in environ:
                return page
            close = getattr(page, "close", None)
            if close is not None:
                close()
            return self._application(environ, start_response)

        return answer


def refuse_protocol_errors() -> None:
    """Have gunicorn answer what it cannot read as HTTP as the store answers (CONTRACT 10), without a word of it."""
    type_protocol_errors(_refusal)


def _refusal(status: int) -> Response:
    # Our table of statuses has no others for it: a bad request, or a fault.
    if status < 500 or status == 501:
        return _json(400, "bad_request", "the request is not HTTP that the server can read")
    return _json(500, "internal_error", "the server failed")


def _json(status: int, error: str, message: str) -> Response:
    return Response(json.dumps({"error": error, "message": message}), status=status, content_type="application/json")


def _discard(data: bytes) -> None:
    """The write callable of PEP 3333 for a page that nobody will see."""
