"""Cross-origin requests of web pages (Fetch standard, CORS protocol), for every side that browsers may call.

It only tells browsers whose pages may see an answer; who may call is for the keys to say. Credentials that a browser
adds by itself (cookies) are never allowed: a page sends its key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from agent.core.setting_entries import WrongEntry, entries

ANY_ORIGIN: Final = "*"
_VARY: Final = ("Vary", "Origin")
_PREFLIGHT_LASTS: Final = ("Access-Control-Max-Age", "600")
# RFC 6454 6.2, as a browser serialises it: lower case, nothing behind the port.
_ORIGIN: Final = re.compile(r"[a-z][a-z0-9+.-]*://(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?\Z", re.ASCII)
_NEVER_SENT: Final = re.compile(r"http://.*:80\Z|https://.*:443\Z", re.ASCII)

Headers = list[tuple[str, str]]
Environ = dict[str, Any]
# WSGI (PEP 3333): an application, and what it starts its answer with.
StartResponse = Callable[..., Callable[[bytes], object]]
Application = Callable[[Environ, Any], Iterable[bytes]]


def allowed_origins(variable: str, text: str) -> tuple[str, ...]:
    """The origins of a setting, each as browsers write it, or "*". Raises ConfigurationError with the place."""
    return entries(variable, text, _origin)


def _origin(entry: str) -> str:
    if entry != ANY_ORIGIN and (not _ORIGIN.match(entry) or _NEVER_SENT.match(entry)):
        raise WrongEntry(
            "must be * or an origin as browsers send it: https://HOST or https://HOST:PORT, lower case, no path"
        )
    return entry


@dataclass(frozen=True, slots=True)
class Cors:
    """What pages may do: with these methods and request headers, and the answer's headers that they may see.

    ``origins`` are exact, or "*" for all; none: nothing is added to any answer.
    """

    origins: tuple[str, ...]
    methods: str
    headers: str
    exposed: str

    def around(self, app: Application) -> Application:
        """``app`` for the pages of the origins; ``app`` itself if there are none.

        Preflights are answered here, for every path and without a key. Errors carry the headers too: a page that may
        not read a 429 cannot wait for its ``Retry-After``.
        """
        if not self.origins:
            return app

        def answer(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
            if is_preflight(environ):
                start_response("204 No Content", self.of_preflight(environ))
                return []

            def start(status: str, headers: Headers, exc_info: Any = None, /) -> Callable[[bytes], object]:
                return start_response(status, [*headers, *self.of_answer(environ)], exc_info)

            return app(environ, start)

        return answer

    def of_preflight(self, environ: Environ) -> Headers:
        """The headers of the answer to a preflight."""
        allowed = self._allowed(environ)
        may = (("Access-Control-Allow-Methods", self.methods), ("Access-Control-Allow-Headers", self.headers))
        return [_VARY, *allowed, *((*may, _PREFLIGHT_LASTS) if allowed else ())]

    def of_answer(self, environ: Environ) -> Headers:
        """What any other answer has beside its own headers."""
        allowed = self._allowed(environ)
        return [_VARY, *allowed, *([("Access-Control-Expose-Headers", self.exposed)] if allowed else ())]

    def _allowed(self, environ: Environ) -> Headers:
        """The header that lets the page see the answer; nothing for another page, or for no page."""
        origin = environ.get("HTTP_ORIGIN")
        if origin is None:
            return []
        name = "Access-Control-Allow-Origin"
        if ANY_ORIGIN in self.origins:
            return [(name, ANY_ORIGIN)]
        return [(name, origin)] if origin in self.origins else []


def is_preflight(environ: Environ) -> bool:
    """An OPTIONS request by a browser that asks about the request to come; any other is for the application."""
    asks = "HTTP_ORIGIN" in environ and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in environ
    return asks and environ["REQUEST_METHOD"] == "OPTIONS"
