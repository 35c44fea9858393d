"""A WSGI application as a function of the function host: every answer is the application's own.

The host has pages for a few paths, for what its router redirects and for a crash. Where it answers without calling the
function, the application is asked instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, cast

from flask import Request, Response

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_CALLED: Final = "agent.function_called"


class HostedApplication:
    """``application`` answers everything that reaches the host."""

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application

    def answer(self, request: Request) -> Response:
        """The application's answer to ``request``, in pieces where it comes in pieces."""
        request.environ[_CALLED] = True
        # werkzeug's class method says that it makes one of werkzeug's.
        return cast("Response", Response.from_app(self._application, request.environ))

    def in_place_of_pages(self, host: WSGIApplication) -> WSGIApplication:
        """``host``, but where it does not call the function the application answers."""

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


def _discard(data: bytes) -> None:
    """The write callable of PEP 3333 for a page that nobody will see."""
