"""Cross-origin reads and writes for the web pages of configured origins (Fetch standard, CORS protocol).

Off unless ``CORS_ORIGINS`` is set. It only tells browsers whose pages may see an answer; who may call is for
``store.http.access`` to say. Credentials that a browser adds by itself (cookies) are never allowed: a page sends its
key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from _typeshed import OptExcInfo
    from _typeshed.wsgi import StartResponse, WSGIApplication

ANY_ORIGIN: Final = "*"
_VARY: Final = ("Vary", "Origin")
_PREFLIGHT: Final = (
    ("Access-Control-Allow-Methods", "GET, HEAD, POST, DELETE"),
    ("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, X-Agent-Id"),
    ("Access-Control-Max-Age", "600"),
)
_EXPOSED: Final = ("Access-Control-Expose-Headers", "Retry-After")

Headers = list[tuple[str, str]]


def with_cors(app: WSGIApplication, origins: tuple[str, ...]) -> WSGIApplication:
    """``app`` for the pages of ``origins``, each exact as browsers write it, or "*"; ``app`` itself if there are none.

    Preflights are answered here, for every path and without a key. Errors carry the headers too: a page that may not
    read a 429 cannot wait for its ``Retry-After``.
    """
    if not origins:
        return app

    def answer(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        allowed = _allowed(environ.get("HTTP_ORIGIN"), origins)
        if _is_preflight(environ):
            start_response("204 No Content", [_VARY, *allowed, *(_PREFLIGHT if allowed else ())])
            return []

        def start(status: str, headers: Headers, exc_info: OptExcInfo | None = None, /) -> Callable[[bytes], object]:
            more = [_VARY, *allowed, *([_EXPOSED] if allowed else ())]
            return start_response(status, [*headers, *more], exc_info)

        return app(environ, start)

    return answer


def _allowed(origin: str | None, origins: tuple[str, ...]) -> Headers:
    """The header that lets the page of ``origin`` see the answer; nothing for another page, or for no page."""
    if origin is None:
        return []
    name = "Access-Control-Allow-Origin"
    if ANY_ORIGIN in origins:
        return [(name, ANY_ORIGIN)]
    return [(name, origin)] if origin in origins else []


def _is_preflight(environ: dict[str, Any]) -> bool:
    """An OPTIONS request by a browser that asks about the request to come; any other is for the application."""
    asks = "HTTP_ORIGIN" in environ and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in environ
    return asks and environ["REQUEST_METHOD"] == "OPTIONS"
